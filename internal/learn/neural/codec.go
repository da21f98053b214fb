package neural

import (
	"encoding/json"
	"fmt"
	"slices"

	"tiebreak/internal/base/networks"
	"tiebreak/internal/base/safetensors"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"

	"gonum.org/v1/gonum/mat"
)

// A description is the content of the metadata of an encoded model, and of the file beside it.
type description struct {
	networks.Description

	Mode    Mode    `json:"mode"`
	Lambda  float64 `json:"lambda"`
	Answers int     `json:"answers"`

	Posterior *posteriorText `json:"posterior,omitempty"` // in the file beside it alone
}

// posteriorText is N(mean, covariance) of the weights of the last layer.
type posteriorText struct {
	Mean       []float64   `json:"mean"`
	Covariance [][]float64 `json:"covariance"`
}

// Names of tensors beside those of layers.
const (
	meanTensor       = "posterior.mean"
	covarianceTensor = "posterior.covariance"
)

// describe returns the description of m without its posterior.
func (m *Model) describe() description {
	d := description{
		Description: networks.Description{
			Format: networks.RewardFormat, Version: networks.Version,
			Input: networks.Input{Observation: m.cfg.ObsDim, Action: m.cfg.ActDim, Mean: m.scale.mean, Scale: m.scale.per},
		},
		Mode: m.cfg.Mode, Lambda: m.cfg.Lambda, Answers: m.report.Answers,
	}
	sizes := m.cfg.sizes()
	for i, out := range sizes[1:] {
		l := networks.Layer{Weight: networks.WeightName(i), Shape: [2]int{out, sizes[i]}, Activation: networks.LeakyReLU, Slope: m.cfg.Slope}
		if i == len(sizes)-2 {
			l.Activation, l.Slope = networks.Identity, 0
		}
		d.Layers = append(d.Layers, l)
	}
	return d
}

// Encode returns m in the format safetensors: the weights of its layers, its posterior and
// a description. The same model gives the same bytes.
func (m *Model) Encode() ([]byte, error) {
	d := m.describe()
	text, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("describe the reward network: %w", err)
	}
	var ts []safetensors.Tensor
	w := m.net.Params(nil)
	for _, l := range d.Layers {
		n := l.Shape[0] * l.Shape[1]
		ts = append(ts, safetensors.Tensor{Name: l.Weight, Shape: l.Shape[:], F32: w[:n]})
		w = w[n:]
	}
	cov := new(mat.SymDense)
	m.posterior.Cov(cov)
	k := m.Dim()
	all := make([]float64, 0, k*k)
	for i := range k {
		all = append(all, mat.Row(nil, i, cov)...)
	}
	ts = append(ts,
		safetensors.Tensor{Name: meanTensor, Shape: []int{k}, F64: m.posterior.Mean(nil)},
		safetensors.Tensor{Name: covarianceTensor, Shape: []int{k, k}, F64: all})
	return networks.Encode(text, ts)
}

// Describe returns the description of m with its posterior as JSON, for other programs.
func (m *Model) Describe() ([]byte, error) {
	d, cov := m.describe(), new(mat.SymDense)
	m.posterior.Cov(cov)
	d.Posterior = &posteriorText{Mean: m.posterior.Mean(nil)}
	for i := range m.Dim() {
		d.Posterior.Covariance = append(d.Posterior.Covariance, mat.Row(nil, i, cov))
	}
	return json.Marshal(d)
}

// Decode returns the model that Encode turned into b, bit for bit, with the likelihoods
// and the number of updates of cfg; the rest of cfg is not used. It returns an error of
// kind Damaged if b was changed or cut, and of kind Invalid if it is not a reward network or
// of another version.
func Decode(cfg Config, b []byte) (*Model, error) {
	text, ts, intact, err := networks.Decode(b)
	if err != nil {
		return nil, idrl.Errorf(idrl.Damaged, "the reward network is damaged: %v", err)
	}
	var d description
	switch err := json.Unmarshal(text, &d); {
	case err != nil || d.Format != networks.RewardFormat:
		return nil, idrl.Errorf(idrl.Invalid, "this is not a reward network")
	case d.Version != networks.Version:
		return nil, idrl.Errorf(idrl.Invalid, "the reward network has format version %d; this program knows version %d", d.Version, networks.Version)
	case !intact:
		return nil, idrl.Errorf(idrl.Damaged, "the reward network is damaged: its checksum is wrong")
	}
	m, err := d.model(cfg.withDefaults(), ts)
	if err != nil {
		return nil, idrl.Errorf(idrl.Damaged, "the reward network is damaged: %v", err)
	}
	return m, nil
}

// model returns the model that d and ts describe.
func (d *description) model(cfg Config, ts []safetensors.Tensor) (*Model, error) {
	if len(d.Layers) < 2 || len(ts) != len(d.Layers)+2 {
		return nil, fmt.Errorf("%d layers and %d tensors", len(d.Layers), len(ts))
	}
	cfg.ObsDim, cfg.ActDim, cfg.Mode, cfg.Lambda = d.Input.Observation, d.Input.Action, d.Mode, d.Lambda
	cfg.Slope, cfg.Hidden = d.Layers[0].Slope, nil
	var w []float32
	for i, l := range d.Layers {
		if ts[i].Name != l.Weight || !slices.Equal(ts[i].Shape, l.Shape[:]) {
			return nil, fmt.Errorf("tensor %q has the shape %v", ts[i].Name, ts[i].Shape)
		}
		w = append(w, ts[i].F32...)
		if i < len(d.Layers)-1 {
			cfg.Hidden = append(cfg.Hidden, l.Shape[0])
		}
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	net, err := cfg.network()
	if err == nil {
		err = net.SetParams(w)
	}
	if err != nil {
		return nil, err
	}
	s := scale{d.Input.Mean, d.Input.Scale}
	if len(s.mean) != cfg.inputs() || len(s.per) != cfg.inputs() {
		return nil, fmt.Errorf("%d means and %d scales of %d inputs", len(s.mean), len(s.per), cfg.inputs())
	}
	mean, cov := ts[len(ts)-2], ts[len(ts)-1]
	k := cfg.features()
	if mean.Name != meanTensor || cov.Name != covarianceTensor || len(mean.F64) != k || len(cov.F64) != k*k {
		return nil, fmt.Errorf("the posterior is %q and %q", mean.Name, cov.Name)
	}
	p, err := belief.NewGaussian(mean.F64, mat.NewSymDense(k, cov.F64))
	if err != nil {
		return nil, err
	}
	m, err := newModel(cfg, s, net, p, Report{Answers: d.Answers})
	if err == nil && !slices.Equal(m.describe().Layers, d.Layers) {
		err = fmt.Errorf("layers %+v", d.Layers)
	}
	return m, err
}
