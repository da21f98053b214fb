package networks

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"tiebreak/internal/base/safetensors"
)

// Values of Description.Format, and that of Version.
const (
	RewardFormat = "tiebreak.reward-network"
	PolicyFormat = "tiebreak.policy-network"
	Version      = 1
)

// Double is the value of Description.Precision for networks of double precision.
const Double = "double"

// A Description says how outputs are computed from inputs and tensors.
type Description struct {
	Format    string  `json:"format"`
	Version   int     `json:"version"`
	Precision string  `json:"precision,omitempty"` // empty for single
	Input     Input   `json:"input"`
	Layers    []Layer `json:"layers"`
	Output    *Output `json:"output,omitempty"` // of policies
}

// An Input says what the first layer reads: an observation, an action and, if Horizon is
// above 0, the share max(0, Horizon − t)/Horizon of the episode that is left after t steps.
// Each number x becomes (x − mean)·scale; one that is not finite counts as its mean.
type Input struct {
	Observation int       `json:"observation"`
	Action      int       `json:"action"`
	Horizon     int       `json:"horizon,omitempty"` // steps
	Mean        []float32 `json:"mean"`
	Scale       []float32 `json:"scale"`
}

// RawInput returns an input of observations that are left as they are. horizon may be 0.
func RawInput(observation, horizon int) Input {
	n := observation + min(horizon, 1)
	in := Input{Observation: observation, Horizon: horizon, Mean: make([]float32, n), Scale: make([]float32, n)}
	for i := range in.Scale {
		in.Scale[i] = 1
	}
	return in
}

// Values of Layer.Activation. The slope of LeakyReLU may be 0, which is ReLU.
const (
	LeakyReLU = "leaky_relu"
	Identity  = "identity"
)

// A Layer is activation(W x + b); W and b are the tensors of these names. Without a bias b
// is 0.
type Layer struct {
	Weight     string  `json:"weight"`
	Bias       string  `json:"bias,omitempty"`
	Shape      [2]int  `json:"shape"` // of W: outputs, inputs
	Activation string  `json:"activation"`
	Slope      float32 `json:"slope,omitempty"`
}

// Values of Output.Squash.
const (
	Tanh = "tanh" // low + (high − low)·(1 + tanh x)/2
	Clip = "clip" // x, or the bound that it exceeds
)

// An Output says what becomes of the first len(Low) outputs of the last layer, so that they
// are an action.
type Output struct {
	Squash string    `json:"squash"`
	Low    []float64 `json:"low"`
	High   []float64 `json:"high"`
}

// WeightName and BiasName are the names of the tensors of layer k, from 0.
func WeightName(k int) string { return fmt.Sprintf("layers.%d.weight", k) }

// BiasName is explained at WeightName.
func BiasName(k int) string { return fmt.Sprintf("layers.%d.bias", k) }

// A Network is a description and the tensors that it names.
type Network struct {
	Description Description
	Tensors     []safetensors.Tensor
}

// Encode returns the contents of the two files of a network. The same network gives the
// same bytes.
func (n *Network) Encode() (weights, description []byte, err error) {
	if description, err = json.Marshal(n.Description); err != nil {
		return nil, nil, fmt.Errorf("describe a network: %w", err)
	}
	weights, err = Encode(description, n.Tensors)
	return weights, description, err
}

// Keys of the metadata.
const (
	descriptionKey = "tiebreak"
	sumKey         = "sha256" // of the description and all numbers
)

// Encode returns tensors in the format safetensors with a description in the metadata, and
// a checksum.
func Encode(description []byte, ts []safetensors.Tensor) ([]byte, error) {
	sum, err := checksum(description, ts)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = safetensors.Write(&out, ts, map[string]string{descriptionKey: string(description), sumKey: sum})
	return out.Bytes(), err
}

// Decode returns what Encode was given. intact is false if the checksum is wrong; without a
// description it is empty. It returns an error if b is not in the format safetensors.
func Decode(b []byte) (description []byte, ts []safetensors.Tensor, intact bool, err error) {
	ts, metadata, err := safetensors.Read(b)
	if err != nil {
		return nil, nil, false, err
	}
	description = []byte(metadata[descriptionKey])
	sum, err := checksum(description, ts)
	return description, ts, sum == metadata[sumKey], err
}

// checksum returns that of a description and the numbers of tensors.
func checksum(description []byte, ts []safetensors.Tensor) (string, error) {
	h := sha256.New()
	h.Write(description)
	if err := safetensors.Write(h, ts, nil); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}
