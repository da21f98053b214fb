package solver

import (
	"fmt"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/mat"
)

// A model holds the transitions of a tabular environment, without the zeros.
type model struct {
	n, actions int
	discount   float64
	row        []int     // successors of (s,a) are row[s·actions+a] to row[s·actions+a+1]
	to         []int     // state entered
	prob       []float64 // of entering it
}

func newModel(env idrl.Tabular) *model {
	spec := env.Spec()
	m := &model{n: env.NumStates(), actions: spec.Actions.Num, discount: spec.Discount, row: []int{0}}
	dense := make([]float64, m.n)
	for s := range m.n {
		for a := range m.actions {
			for next, p := range env.Transition(dense, s, a) {
				if p != 0 {
					m.to, m.prob = append(m.to, next), append(m.prob, p)
				}
			}
			m.row = append(m.row, len(m.to))
		}
	}
	return m
}

// successors returns the states that action a may enter from s, with their
// probabilities.
func (m *model) successors(s, a int) (to []int, prob []float64) {
	k := s*m.actions + a
	return m.to[m.row[k]:m.row[k+1]], m.prob[m.row[k]:m.row[k+1]]
}

// features returns φ of every state, shape n×d.
func (m *model) features(env idrl.Tabular) *mat.Dense {
	phi := mat.NewDense(m.n, env.Spec().FeatureDim(), nil)
	env.Features(phi)
	return phi
}

// factor returns the LU factors of I − γP_π for the policy that takes action[s]
// in state s. They are solved with, never inverted.
func (m *model) factor(action []int) (*mat.LU, error) {
	a := mat.NewDense(m.n, m.n, nil)
	for s := range m.n {
		a.Set(s, s, 1)
		to, prob := m.successors(s, action[s])
		for i, next := range to {
			a.Set(s, next, a.At(s, next)-m.discount*prob[i])
		}
	}
	var lu mat.LU
	lu.Factorize(a)
	if c := lu.Cond(); !(c < 1e15) { // so that NaN fails
		return nil, fmt.Errorf("evaluate policy: condition number %g; the transition probabilities or the discount are wrong", c)
	}
	return &lu, nil
}

// evaluate stores in dst the value of every state under the policy:
//
//	v = (I − γP_π)⁻¹ P_π r
//
// where r is the reward of the state entered.
func (m *model) evaluate(dst []float64, action []int, reward []float64) error {
	lu, err := m.factor(action)
	if err != nil {
		return err
	}
	expected := mat.NewVecDense(m.n, nil) // P_π r
	for s := range m.n {
		to, prob := m.successors(s, action[s])
		for i, next := range to {
			expected.SetVec(s, expected.AtVec(s)+prob[i]*reward[next])
		}
	}
	if err := lu.SolveVecTo(mat.NewVecDense(m.n, dst), false, expected); err != nil {
		return fmt.Errorf("evaluate policy: %w", err)
	}
	return nil
}

// mu stores in dst the discounted feature expectation of the policy that takes
// action[s] in state s, startᵀ (I − γP_π)⁻¹ P_π Φ, where Φ is phi.
func (m *model) mu(dst []float64, phi *mat.Dense, start []float64, action []int) error {
	visits := mat.NewVecDense(m.n, nil) // discounted, of the state left
	lu, err := m.factor(action)
	if err == nil {
		err = lu.SolveVecTo(visits, true, mat.NewVecDense(m.n, start))
	}
	if err != nil {
		return fmt.Errorf("feature expectation: %w", err)
	}
	entered := mat.NewVecDense(m.n, nil)
	for s := range m.n {
		to, prob := m.successors(s, action[s])
		for i, next := range to {
			entered.SetVec(next, entered.AtVec(next)+visits.AtVec(s)*prob[i])
		}
	}
	mat.NewVecDense(len(dst), dst).MulVec(phi.T(), entered)
	return nil
}

// TabularMu returns the exact discounted feature expectation of the policy that
// takes action actions[s] in state s, length d:
//
//	μ = startᵀ (I − γP_π)⁻¹ P_π Φ
//
// so that θ·μ is the expected infinite-horizon return where every step pays the
// reward of the state entered. It panics if actions has the wrong length or the
// transition probabilities of env are no probabilities.
func TabularMu(env idrl.Tabular, actions []float64) []float64 {
	m := newModel(env)
	if len(actions) != m.n {
		panic("solver: a tabular policy has one action a state")
	}
	mu := make([]float64, env.Spec().FeatureDim())
	if err := m.mu(mu, m.features(env), env.Start(nil), indices(actions)); err != nil {
		panic(fmt.Sprintf("solver: %v", err))
	}
	return mu
}

// indices returns the actions of a tabular policy as integers.
func indices(actions []float64) []int {
	out := make([]int, len(actions))
	for s, a := range actions {
		out[s] = int(a)
	}
	return out
}
