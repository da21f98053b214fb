package solver

import (
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/base/networks"
	"tiebreak/internal/base/safetensors"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// A Linear policy takes the action W·(obs − mean)/std, clipped to the bounds of
// the actions. Mean and std are by observation; without them they are 0 and 1.
type Linear struct {
	params    []float64
	rows      [][]float64 // of W, divided by std
	offset    []float64   // rows·mean, one an action dimension
	low, high []float64   // bounds of the actions
}

var _ idrl.Policy = (*Linear)(nil)

// NewLinear returns the linear policy for an environment with these actions and
// observations. The parameters are W by rows, action dimensions × ObsDim
// numbers, and if there are more the means and then the standard deviations of
// the observations, ObsDim each. It returns an error of kind Invalid if the
// actions are discrete, the number of parameters is wrong, one is not finite,
// or a standard deviation is not positive.
func NewLinear(spec idrl.EnvSpec, params []float64) (*Linear, error) {
	act, obs := spec.Actions.Dim(), spec.ObsDim
	if err := checkBox(spec); err != nil {
		return nil, err
	}
	if n := len(params); n != act*obs && n != (act+2)*obs {
		return nil, idrl.Errorf(idrl.Invalid, "a linear policy of %s has %d numbers, or %d with the scales of observations; got %d", spec.ID, act*obs, (act+2)*obs, n)
	}
	for i, v := range params {
		if math.IsNaN(v) || math.IsInf(v, 0) || i >= (act+1)*obs && v <= 0 {
			return nil, idrl.Errorf(idrl.Invalid, "parameter %d of a linear policy is %v; numbers must be finite and standard deviations positive", i, v)
		}
	}
	p := &Linear{
		params: slices.Clone(params), rows: matrix(act, obs), offset: make([]float64, act),
		low: spec.Actions.Low, high: spec.Actions.High,
	}
	for i, row := range p.rows {
		copy(row, params[i*obs:])
		if scales := params[act*obs:]; len(scales) > 0 {
			floats.Div(row, scales[obs:])
			p.offset[i] = floats.Dot(row, scales[:obs])
		}
	}
	return p, nil
}

func checkBox(spec idrl.EnvSpec) error {
	if !isBox(spec) {
		return idrl.Errorf(idrl.Invalid, "linear policies need continuous actions; those of %s are discrete", spec.ID)
	}
	return nil
}

// isBox reports whether actions are continuous.
func isBox(spec idrl.EnvSpec) bool { return spec.Actions.Num == 0 && len(spec.Actions.Low) > 0 }

// Act stores the action for obs in dst and returns it. It draws nothing.
func (p *Linear) Act(dst idrl.Action, obs []float64, _ *rand.Rand) idrl.Action {
	for i := range dst {
		dst[i] = p.component(i, obs)
	}
	return dst
}

// component returns dimension i of the action for obs.
func (p *Linear) component(i int, obs []float64) float64 {
	return max(p.low[i], min(p.high[i], floats.Dot(p.rows[i], obs)-p.offset[i]))
}

// Params returns W by rows, then the means and standard deviations if given.
func (p *Linear) Params() []float64 { return p.params }

// Network returns the policy as one layer of double precision, in the form of package
// networks.
func (p *Linear) Network() networks.Network {
	act, obs := len(p.rows), len(p.rows[0])
	bias := make([]float64, act)
	floats.SubTo(bias, bias, p.offset)
	return networks.Network{
		Description: networks.Description{
			Format: networks.PolicyFormat, Version: networks.Version, Precision: networks.Double,
			Input:  networks.RawInput(obs, 0),
			Layers: []networks.Layer{{Weight: networks.WeightName(0), Bias: networks.BiasName(0), Shape: [2]int{act, obs}, Activation: networks.Identity}},
			Output: &networks.Output{Squash: networks.Clip, Low: p.low, High: p.high},
		},
		Tensors: []safetensors.Tensor{
			{Name: networks.WeightName(0), Shape: []int{act, obs}, F64: slices.Concat(p.rows...)},
			{Name: networks.BiasName(0), Shape: []int{act}, F64: bias},
		},
	}
}
