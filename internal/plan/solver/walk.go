package solver

import (
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/mat"
)

// A Walk is a policy of a tabular environment whose actions depend on the step of the episode.
type Walk struct {
	n       int
	actions []float64 // of state s after t steps: actions[t·n+s]; the last n are those of all later steps
}

var _ idrl.Timed = (*Walk)(nil)

// Walk returns the policy with the largest expected undiscounted sum of θ·φ over the n steps of an episode from step
// from on, by dynamic programming over the steps. Among equally good actions the one with the lowest index is taken. θ
// has length d.
func (p *Prepared) Walk(theta []float64, from, n int) *Walk {
	m := p.model
	reward := make([]float64, m.n)
	mat.NewVecDense(m.n, reward).MulVec(p.phi, mat.NewVecDense(len(theta), theta))
	w := &Walk{n: m.n, actions: make([]float64, (from+n)*m.n)}
	value, next, qs := make([]float64, m.n), make([]float64, m.n), make([]float64, m.actions)
	for t := from + n - 1; t >= 0; t-- {
		for s := range m.n {
			for a := range qs {
				qs[a] = 0
				to, prob := m.successors(s, a)
				for i, into := range to {
					q := value[into]
					if t >= from {
						q += reward[into]
					}
					qs[a] += prob[i] * q
				}
			}
			best := 0
			for a, q := range qs {
				if q > qs[best]+1e-12*(1+max(q, -q)) { // rounding decides nothing
					best = a
				}
			}
			w.actions[t*m.n+s], next[s] = float64(best), qs[best]
		}
		value, next = next, value
	}
	return w
}

// Act is ActAt at the start of an episode.
func (w *Walk) Act(dst idrl.Action, obs []float64, rng *rand.Rand) idrl.Action {
	return w.ActAt(dst, obs, 0, rng)
}

// ActAt returns the action of the state whose index is obs[0]. It draws nothing.
func (w *Walk) ActAt(dst idrl.Action, obs []float64, t int, _ *rand.Rand) idrl.Action {
	t = min(t, len(w.actions)/w.n-1)
	dst[0] = w.actions[t*w.n+int(obs[0])]
	return dst
}

// Params returns the index of the action of each state, step after step.
func (w *Walk) Params() []float64 { return slices.Clone(w.actions) }
