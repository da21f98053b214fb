package solver

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// A Table lists policies of one environment with their feature expectations, so
// that the best of them for any reward is one matrix-vector product away. It is
// immutable once built, and any number of goroutines may read it.
type Table struct {
	Params [][]float64 // of policy i, as FromParams takes them
	Mu     [][]float64 // of policy i, length d: its return under θ is θ·Mu[i]
}

// NewTable returns the table of the policies with these Params. Their feature
// expectations are those of Mu. It returns an error of kind Invalid if there are
// none or if some do not fit env. It keeps params.
func NewTable(env idrl.Environment, params [][]float64, rng *rand.Rand) (*Table, error) {
	if len(params) == 0 {
		return nil, idrl.Errorf(idrl.Invalid, "a table needs at least one policy")
	}
	t := &Table{Params: params, Mu: matrix(len(params), env.Spec().FeatureDim())}
	policies := make([]idrl.Policy, len(params))
	for i, p := range params {
		var err error
		if policies[i], err = FromParams(env, p); err != nil {
			return nil, err
		}
	}
	if env, ok := env.(idrl.Tabular); ok {
		if err := t.evaluate(env); err != nil {
			return nil, err
		}
		return t, nil
	}
	for i, p := range policies {
		copy(t.Mu[i], Mu(env, p, rng))
	}
	return t, nil
}

// evaluate fills in the exact feature expectations. The model of env is built
// once, which is most of the work for small ones.
func (t *Table) evaluate(env idrl.Tabular) error {
	m := newModel(env)
	phi, start := m.features(env), env.Start(nil)
	for i, p := range t.Params {
		if err := m.mu(t.Mu[i], phi, start, indices(p)); err != nil {
			return fmt.Errorf("policy %d: %w", i, err)
		}
	}
	return nil
}

// matrix returns n rows of length d that lie one after another in memory.
func matrix(n, d int) [][]float64 {
	rows, all := make([][]float64, n), make([]float64, n*d)
	for i := range rows {
		rows[i] = all[i*d : (i+1)*d : (i+1)*d]
	}
	return rows
}

// Len returns the number of policies.
func (t *Table) Len() int { return len(t.Params) }

// Best returns the policy with the greatest return θ·Mu[index] and that return;
// of equal ones the first. It allocates nothing. It panics if the table is
// empty or theta has the wrong length.
func (t *Table) Best(theta []float64) (index int, value float64) {
	value = floats.Dot(t.Mu[0], theta)
	for i, mu := range t.Mu[1:] {
		if v := floats.Dot(mu, theta); v > value {
			index, value = i+1, v
		}
	}
	return index, value
}

// Append returns the table of t's policies followed by those of more. Both stay
// as they are; rows are shared.
func (t *Table) Append(more *Table) *Table {
	return &Table{Params: slices.Concat(t.Params, more.Params), Mu: slices.Concat(t.Mu, more.Mu)}
}
