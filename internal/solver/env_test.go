package solver_test

import (
	"math/rand/v2"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/mat"
)

// finite is a tabular environment given by its tables, for tests.
type finite struct {
	p        [][][]float64 // p[s][a][next]
	phi      *mat.Dense
	start    []float64
	discount float64

	state, t int
	rng      *rand.Rand
}

func (e *finite) Spec() idrl.EnvSpec {
	_, d := e.phi.Dims()
	return idrl.EnvSpec{
		ID: "finite", Actions: idrl.ActionSpec{Num: len(e.p[0])}, ObsDim: 1,
		FeatureNames: make([]string, d), Horizon: 2000, Discount: e.discount,
	}
}

func (e *finite) Reset(rng *rand.Rand) idrl.TimeStep {
	e.rng, e.t, e.state = rng, 0, draw(e.start, rng)
	return idrl.TimeStep{Obs: []float64{float64(e.state)}}
}

func (e *finite) Step(a idrl.Action) idrl.TimeStep {
	e.state = draw(e.p[e.state][int(a[0])], e.rng)
	e.t++
	kind := idrl.Mid
	if e.t == e.Spec().Horizon {
		kind = idrl.Truncated
	}
	return idrl.TimeStep{Kind: kind, Obs: []float64{float64(e.state)}, Phi: e.phi.RawRowView(e.state)}
}

func (e *finite) Snapshot(dst []float64) []float64 {
	return append(dst[:0], float64(e.state), float64(e.t))
}
func (e *finite) Restore(s []float64) { e.state, e.t = int(s[0]), int(s[1]) }
func (e *finite) NumStates() int      { return len(e.p) }

func (e *finite) Transition(dst []float64, s, a int) []float64 { return store(dst, e.p[s][a]) }
func (e *finite) Start(dst []float64) []float64                { return store(dst, e.start) }
func (e *finite) Features(dst *mat.Dense)                      { dst.Copy(e.phi) }

func store(dst, src []float64) []float64 {
	if dst == nil {
		dst = make([]float64, len(src))
	}
	copy(dst, src)
	return dst
}

func draw(p []float64, rng *rand.Rand) int {
	u := rng.Float64()
	for i, v := range p {
		if u -= v; u < 0 {
			return i
		}
	}
	return len(p) - 1
}

// chain returns the Chain of the paper with one feature, the reward: in states
// 0 to 9 both actions go right, in 10 to 19 action 0 goes left, 1 right.
func chain(reward []float64) *finite {
	n := len(reward)
	e := &finite{phi: mat.NewDense(n, 1, reward), start: make([]float64, n), discount: 0.99}
	for s := range n {
		left, right := make([]float64, n), make([]float64, n)
		right[min(n-1, s+1)] = 1
		left[max(0, s-1)] = 1
		if s < n/2 {
			left = right
		}
		e.p = append(e.p, [][]float64{left, right})
		e.start[s] = 1 / float64(n)
	}
	return e
}

// randomMDP returns an environment with n states, three actions with two to
// four random successors each, and d normal features.
func randomMDP(n, d int, discount float64, rng *rand.Rand) *finite {
	e := &finite{phi: mat.NewDense(n, d, nil), discount: discount, start: simplex(n, n, rng)}
	for s := range n {
		rows := make([][]float64, 3)
		for a := range rows {
			rows[a] = simplex(n, 2+rng.IntN(3), rng)
		}
		e.p = append(e.p, rows)
		for j := range d {
			e.phi.Set(s, j, rng.NormFloat64())
		}
	}
	return e
}

// simplex returns a random distribution over n outcomes with k draws of mass.
func simplex(n, k int, rng *rand.Rand) []float64 {
	p := make([]float64, n)
	total := 0.0
	for range k {
		m := rng.ExpFloat64()
		p[rng.IntN(n)] += m
		total += m
	}
	for i := range p {
		p[i] /= total
	}
	return p
}

// slope is a differentiable environment with a known optimum: a point in the
// plane is moved by held actions; φ = (x, y, −x²/2, −y²/2) of the point after
// the step.
type slope struct {
	x, y float64
	t    int
}

const (
	slopeHorizon = 7
	slopeHold    = 3
)

func (e *slope) Spec() idrl.EnvSpec {
	return idrl.EnvSpec{
		ID: "slope", Actions: idrl.ActionSpec{Low: []float64{-1, -0.5}, High: []float64{1, 0.25}, Hold: slopeHold},
		ObsDim: 3, FeatureNames: make([]string, 4), Horizon: slopeHorizon, Discount: 1,
	}
}

func (e *slope) Reset(*rand.Rand) idrl.TimeStep {
	*e = slope{}
	return idrl.TimeStep{Obs: []float64{0, 0, 0}}
}

func (e *slope) Step(a idrl.Action) idrl.TimeStep {
	e.x, e.y, e.t = e.x+a[0], e.y+a[1], e.t+1
	kind := idrl.Mid
	if e.t == slopeHorizon {
		kind = idrl.Truncated
	}
	return idrl.TimeStep{
		Kind: kind, Obs: []float64{e.x, e.y, float64(e.t) / slopeHorizon},
		Phi: []float64{e.x, e.y, -e.x * e.x / 2, -e.y * e.y / 2},
	}
}

func (e *slope) Return(grad, actions, theta []float64) float64 {
	clear(grad)
	var x, y, sum float64
	for t := range slopeHorizon {
		k := t / slopeHold * 2
		x, y = x+actions[k], y+actions[k+1]
		sum += theta[0]*x + theta[1]*y - theta[2]*x*x/2 - theta[3]*y*y/2
		for u := range t + 1 {
			if grad != nil {
				grad[u/slopeHold*2] += theta[0] - theta[2]*x
				grad[u/slopeHold*2+1] += theta[1] - theta[3]*y
			}
		}
	}
	return sum
}
