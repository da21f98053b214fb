package experiment

import (
	"maps"
	"math"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"
)

// Limits of a task.
const (
	maxTaskRows = 100000 // items, policies, queries
	maxNumber   = 1e9    // size of a number, which keeps products finite
	minPositive = 1e-9   // of what must be above zero
)

// check returns an error of kind Invalid that says what to change, if t makes no
// sense.
func (t *Task) check() error {
	for _, check := range []func() error{t.checkSizes, t.checkRows, t.checkQueries, t.checkNumbers} {
		if err := check(); err != nil {
			return err
		}
	}
	_, err := t.prior()
	return err
}

func (t *Task) checkSizes() error {
	switch d := len(t.Features); {
	case d == 0 || d > belief.MaxDim:
		return idrl.Errorf(idrl.Invalid, "task: \"features\" must name 1 to %d features; it names %d", belief.MaxDim, d)
	case len(t.Policies) < 2:
		return idrl.Errorf(idrl.Invalid, "task: \"policies\" must hold at least two; it holds %d", len(t.Policies))
	case len(t.Items) == 0 || len(t.Queries) == 0:
		return idrl.Errorf(idrl.Invalid, "task: \"items\" and \"queries\" must not be empty")
	case len(t.Items) > maxTaskRows || len(t.Policies) > maxTaskRows || len(t.Queries) > maxTaskRows:
		return idrl.Errorf(idrl.Invalid, "task: at most %d items, policies and queries each", maxTaskRows)
	case t.Truth != nil && len(t.Truth) != d:
		return idrl.Errorf(idrl.Invalid, "task: \"true_weights\" has %d numbers for %d features", len(t.Truth), d)
	}
	return nil
}

// checkRows checks items and policies, and indexes the items.
func (t *Task) checkRows() error {
	index, err := t.rows("items", t.Items)
	if err != nil {
		return err
	}
	t.index = index
	_, err = t.rows("policies", t.Policies)
	return err
}

// rows checks a list of named vectors and returns the index of every name.
func (t *Task) rows(name string, rows []TaskItem) (map[string]int, error) {
	index := make(map[string]int, len(rows))
	for i, r := range rows {
		if _, ok := index[r.ID]; ok || r.ID == "" {
			return nil, idrl.Errorf(idrl.Invalid, "task: %s[%d] needs an \"id\" of its own; got %q", name, i, r.ID)
		}
		index[r.ID] = i
		if len(r.Features) != len(t.Features) {
			return nil, idrl.Errorf(idrl.Invalid, "task: %s[%d] (%q) has %d numbers for %d features", name, i, r.ID, len(r.Features), len(t.Features))
		}
		if k := tooLarge(r.Features); k >= 0 {
			return nil, idrl.Errorf(idrl.Invalid, "task: number %d of %s[%d] (%q) is not within ±%g", k, name, i, r.ID, maxNumber)
		}
	}
	return index, nil
}

// tooLarge returns the index of the first number beyond maxNumber; −1 if there is
// none.
func tooLarge(x []float64) int {
	return slices.IndexFunc(x, func(v float64) bool { return !(math.Abs(v) <= maxNumber) })
}

func (t *Task) checkQueries() error {
	for i, q := range t.Queries {
		forms := 0
		for _, given := range []bool{q.Rate != "", q.Compare != nil, q.Weights != nil} {
			if given {
				forms++
			}
		}
		if forms != 1 || q.Compare != nil && len(q.Compare) != 2 {
			return idrl.Errorf(idrl.Invalid, "task: queries[%d] must have exactly one of \"rate\" (an item), \"compare\" (two items) and \"weights\" (a number for each item)", i)
		}
		if err := t.checkNamed(i, q); err != nil {
			return err
		}
	}
	return nil
}

// checkNamed checks the items of query i.
func (t *Task) checkNamed(i int, q TaskQuery) error {
	ids := q.items()
	if len(ids) == 0 {
		return idrl.Errorf(idrl.Invalid, "task: queries[%d] names no item", i)
	}
	for _, id := range ids {
		if _, ok := t.index[id]; !ok {
			return idrl.Errorf(idrl.Invalid, "task: queries[%d] names item %q, which is not in \"items\"", i, id)
		}
		if tooLarge([]float64{q.Weights[id]}) >= 0 {
			return idrl.Errorf(idrl.Invalid, "task: queries[%d] has a weight of %q that is not within ±%g", i, id, maxNumber)
		}
	}
	if q.Compare != nil && ids[0] == ids[1] {
		return idrl.Errorf(idrl.Invalid, "task: queries[%d] compares item %q with itself", i, ids[0])
	}
	return nil
}

// items returns the ids of the items that a query is about, in order.
func (q TaskQuery) items() []string {
	switch {
	case q.Rate != "":
		return []string{q.Rate}
	case q.Compare != nil:
		return q.Compare
	default:
		return slices.Sorted(maps.Keys(q.Weights))
	}
}

func (t *Task) checkNumbers() error {
	if t.Budget < 1 || t.Budget > maxCount {
		return idrl.Errorf(idrl.Invalid, "task: \"budget\" must be 1 to %d; got %d", maxCount, t.Budget)
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"prior.variance", t.Prior.Variance}, {"answers.noise_std", t.Answers.NoiseStd}, {"answers.beta", t.Answers.Beta}} {
		if !(v.value >= minPositive && v.value <= maxNumber) {
			return idrl.Errorf(idrl.Invalid, "task: %q must be a positive number, %g to %g; got %v", v.name, minPositive, maxNumber, v.value)
		}
	}
	if k := tooLarge(t.Truth); k >= 0 {
		return idrl.Errorf(idrl.Invalid, "task: number %d of \"true_weights\" is not within ±%g", k, maxNumber)
	}
	return t.checkCovariance()
}

// checkCovariance checks all of the prior's covariance but its definiteness.
func (t *Task) checkCovariance() error {
	cov, d := t.Prior.Covariance, len(t.Features)
	if cov != nil && len(cov) != d {
		return idrl.Errorf(idrl.Invalid, "task: \"prior.covariance\" has %d rows for %d features", len(cov), d)
	}
	for i, row := range cov {
		if len(row) != d {
			return idrl.Errorf(idrl.Invalid, "task: row %d of \"prior.covariance\" has %d numbers for %d features", i, len(row), d)
		}
		if k := tooLarge(row); k >= 0 {
			return idrl.Errorf(idrl.Invalid, "task: number %d of row %d of \"prior.covariance\" is not within ±%g", k, i, maxNumber)
		}
		for j, v := range cov[:i] {
			if !scalar.EqualWithinRel(row[j], v[i], 1e-9) {
				return idrl.Errorf(idrl.Invalid, "task: \"prior.covariance\" is not symmetric: row %d has %v at %d, and row %d has %v at %d", i, row[j], j, j, v[i], i)
			}
		}
	}
	return nil
}

// prior returns the belief before the first answer.
func (t *Task) prior() (*belief.Gaussian, error) {
	d := len(t.Features)
	if t.Prior.Covariance == nil {
		return belief.Isotropic(d, t.Prior.Variance), nil
	}
	cov := mat.NewSymDense(d, nil)
	for i, row := range t.Prior.Covariance {
		for j, v := range row[:i+1] {
			cov.SetSym(i, j, v)
		}
	}
	g, err := belief.NewGaussian(make([]float64, d), cov)
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "task: \"prior.covariance\": %v", err)
	}
	return g, nil
}
