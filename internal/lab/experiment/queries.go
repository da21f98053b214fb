package experiment

import (
	"cmp"
	"context"

	"tiebreak/internal/idrl"
)

// present returns the candidate queries of a step, where they are drawn for it, and
// their indexes among the instance's; nil where they are all of these.
func (l *learner) present() (queries []idrl.QueryVector, index []int) {
	if l.drawn() == 0 {
		return nil, nil
	}
	stream := l.stream("candidate queries", l.n)
	queries = make([]idrl.QueryVector, l.drawn())
	index = make([]int, len(queries))
	for i := range index {
		index[i] = stream.IntN(len(l.queries)) // with replacement, as the authors' Driver experiment does
		queries[i] = l.queries[index[i]]
	}
	return queries, index
}

// Methods that solve for a policy a query look at fewQueries of them, drawn anew
// for every step, where there are more than manyQueries.
const (
	manyQueries = 5000
	fewQueries  = 100
)

// drawn returns the number of candidate queries that are drawn for a step; 0 for
// all.
func (l *learner) drawn() int {
	switch {
	case l.method.Needs.AllQueries:
		return 0
	case l.method.Needs.SolvesEach && len(l.queries) > manyQueries:
		return cmp.Or(l.draws, fewQueries)
	default:
		return l.draws
	}
}

// imagined returns the solver of EPD for one step. Solves of a step start alike,
// so that what changes is the reward, but in the authors' Driver, where every
// solve has a random start of its own.
func (l *learner) imagined(ctx context.Context) func(theta []float64) ([]float64, error) {
	if l.hard != nil {
		stream := l.stream("divergence", l.n)
		return func(theta []float64) ([]float64, error) {
			l.run.Solves++
			return l.hard(ctx, theta, stream)
		}
	}
	return remember(func(theta []float64) ([]float64, error) {
		p, err := startingFrom(l.candidateSolver, l.latest).optimal(ctx, theta, l.stream("divergence", l.n))
		l.charge(p)
		return p.params, err
	})
}

// remember returns f with a memory: queries with equal features change the mean
// in the same way.
func remember(f func([]float64) ([]float64, error)) func([]float64) ([]float64, error) {
	known := map[string][]float64{}
	return func(theta []float64) ([]float64, error) {
		k := bits(theta)
		if params, ok := known[k]; ok {
			return params, nil
		}
		params, err := f(theta)
		if err == nil {
			known[k] = params
		}
		return params, err
	}
}
