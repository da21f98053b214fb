package nn

import (
	"fmt"
	"math"

	"tiebreak/internal/base/gemm"
)

// Adam is the settings of the optimiser of Kingma and Ba, "Adam: a method for
// stochastic optimization", ICLR 2015, Algorithm 1.
type Adam struct {
	Rate  float32 // α
	Beta1 float32 // in [0, 1); 0.9 in the paper
	Beta2 float32 // in [0, 1); 0.999 in the paper
	Eps   float32 // 1e-8 in the paper
	Decay float32 // Decay·θ is added to the gradient, as weight_decay of torch.optim.Adam does
}

// check returns an error if the settings are out of their ranges.
func (a Adam) check() error {
	for _, s := range []struct {
		name  string
		value float32
		ok    bool
	}{
		{"rate", a.Rate, a.Rate >= 0 && a.Rate-a.Rate == 0},
		{"first decay rate", a.Beta1, a.Beta1 >= 0 && a.Beta1 < 1},
		{"second decay rate", a.Beta2, a.Beta2 >= 0 && a.Beta2 < 1},
		{"epsilon", a.Eps, a.Eps > 0 && a.Eps-a.Eps == 0},
		{"weight decay", a.Decay, a.Decay >= 0 && a.Decay-a.Decay == 0},
	} {
		if !s.ok {
			return fmt.Errorf("the %s of Adam is %v", s.name, s.value)
		}
	}
	return nil
}

// Optimiser changes a network by Adam.
type Optimiser struct {
	net  *Net
	adam Adam
	t    int       // steps done
	m, v []float32 // as Net.p
}

// NewOptimiser returns an optimiser of n that has done no step. It returns an
// error if the settings are out of their ranges.
func NewOptimiser(n *Net, a Adam) (*Optimiser, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	return &Optimiser{net: n, adam: a, m: make([]float32, len(n.p)), v: make([]float32, len(n.p))}, nil
}

// step returns what a step multiplies with. The corrections for the start,
// m̂ = m/(1−β₁ᵗ) and v̂ = v/(1−β₂ᵗ), are in the rate and ε:
//
//	α m̂/(√v̂ + ε) = Rate·m/(√v + Eps)
func (o *Optimiser) step() gemm.Step {
	a, b1, b2 := o.adam, float64(o.adam.Beta1), float64(o.adam.Beta2)
	first, second := 1-math.Pow(b1, float64(o.t)), math.Sqrt(1-math.Pow(b2, float64(o.t)))
	return gemm.Step{
		Beta1: a.Beta1, Rest1: float32(1 - b1), Beta2: a.Beta2, Rest2: float32(1 - b2),
		Rate: float32(float64(a.Rate) * second / first), Eps: float32(float64(a.Eps) * second), Decay: a.Decay,
	}
}

// Step changes the network by the gradient of p, which must be a pass of the
// optimiser's network. The pass's gradient stays as it is.
func (o *Optimiser) Step(p *Pass) {
	if p.net != o.net {
		panic("nn: a pass of another network")
	}
	o.t++
	s := o.step()
	o.net.path.Adam(&s, o.net.p, p.grad, o.m, o.v)
}

// OptimiserState is an optimiser's state between two steps: with the network's parameters, training
// continues with the same bits.
type OptimiserState struct {
	Steps int
	M, V  []float32 // first and second moments, in the order of Net.Params
}

// State returns a copy of the state.
func (o *Optimiser) State() OptimiserState {
	return OptimiserState{o.t, o.net.gather(nil, o.m), o.net.gather(nil, o.v)}
}

// SetState continues from a state. It returns an error, and changes nothing, if no optimiser of
// such a network can have this state.
func (o *Optimiser) SetState(s OptimiserState) error {
	if s.Steps < 0 {
		return fmt.Errorf("an optimiser cannot have done %d steps", s.Steps)
	}
	for _, moments := range [][]float32{s.M, s.V} {
		if err := o.net.checkValues(moments); err != nil {
			return fmt.Errorf("moments of an optimiser: %w", err)
		}
	}
	for i, v := range s.V {
		if v < 0 {
			return fmt.Errorf("second moment %d of an optimiser is %v", i, v)
		}
	}
	o.t = s.Steps
	o.net.scatter(o.m, s.M)
	o.net.scatter(o.v, s.V)
	return nil
}
