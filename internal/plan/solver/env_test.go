package solver_test

import (
	"cmp"
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

// junction returns the Junction of the paper with one feature, the reward: a
// corridor of n states that leads right; at its end action 0 enters the first
// and action 1 the second of two branches, in which the agent walks at random
// whatever it does.
func junction(reward []float64, n int) *finite {
	total := len(reward)
	e := &finite{phi: mat.NewDense(total, 1, reward), start: make([]float64, total), discount: 0.99}
	m := (total - n) / 2 // states of a branch
	for s := range total {
		e.start[s] = 1 / float64(total)
		rows := [][]float64{make([]float64, total), make([]float64, total)}
		for a, row := range rows {
			switch low := n + (s-n)/m*m; {
			case s < n-1:
				row[s+1] = 1
			case s == n-1:
				row[n+a*m] = 1
			default: // reflected at the ends of the branch, which begins at low
				row[max(low, s-1)] += 0.5
				row[min(low+m-1, s+1)] += 0.5
			}
		}
		e.p = append(e.p, rows)
	}
	return e
}

// maze returns a square grid of side² cells with random walls, a uniform start
// and d normal features. Actions are left, right, up and down; a move against
// a wall or the edge stays.
func maze(side, d int, rng *rand.Rand) *finite {
	n := side * side
	e := &finite{phi: mat.NewDense(n, d, nil), start: make([]float64, n), discount: 0.95}
	open := map[[2]int]bool{}
	for s := range n {
		for _, next := range []int{s + 1, s + side} {
			free := rng.Float64() < 0.7
			open[[2]int{s, next}], open[[2]int{next, s}] = free, free
		}
	}
	for s := range n {
		x, y := s%side, s/side
		e.start[s] = 1 / float64(n)
		for j := range d {
			e.phi.Set(s, j, rng.NormFloat64())
		}
		rows := make([][]float64, 4)
		for a, to := range [][2]int{{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}} {
			next := to[0] + side*to[1]
			if min(to[0], to[1]) < 0 || max(to[0], to[1]) >= side || !open[[2]int{s, next}] {
				next = s
			}
			rows[a] = make([]float64, n)
			rows[a][next] = 1
		}
		e.p = append(e.p, rows)
	}
	return e
}

// glider is a point in the plane that is moved by its action from a random
// start to come near the origin. Its observation is the position, x in units of
// 1/scale, and a constant. φ = (−squared distance to the origin, 1) of the
// position after the step.
type glider struct {
	scale float64 // 0 means 1
	x, y  float64
	t     int
	obs   [3]float64
	phi   [2]float64
	log   [][]float64 // observations on which a step was taken, if not nil at first
}

const gliderHorizon = 15

func (e *glider) Spec() idrl.EnvSpec {
	return idrl.EnvSpec{
		ID: "glider", Actions: idrl.ActionSpec{Low: []float64{-0.5, -0.4}, High: []float64{0.5, 0.4}},
		ObsDim: 3, FeatureNames: make([]string, 2), Horizon: gliderHorizon, Discount: 1,
	}
}

func (e *glider) Reset(rng *rand.Rand) idrl.TimeStep {
	e.x, e.y, e.t = 2*rng.Float64()-1, 2*rng.Float64()-1, 0
	return idrl.TimeStep{Obs: e.observe()}
}

func (e *glider) observe() []float64 {
	e.obs = [3]float64{cmp.Or(e.scale, 1) * e.x, e.y, 1}
	return e.obs[:]
}

func (e *glider) Step(a idrl.Action) idrl.TimeStep {
	if !e.Spec().Actions.Contains(a) {
		panic("glider: not an action")
	}
	if e.log != nil {
		e.log = append(e.log, []float64{e.obs[0], e.obs[1], e.obs[2]})
	}
	e.x, e.y, e.t = e.x+a[0], e.y+a[1], e.t+1
	e.phi = [2]float64{-e.x*e.x - e.y*e.y, 1}
	kind := idrl.Mid
	if e.t == gliderHorizon {
		kind = idrl.Truncated
	}
	return idrl.TimeStep{Kind: kind, Obs: e.observe(), Phi: e.phi[:]}
}
