package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"tiebreak/internal/acquisition"
	"tiebreak/internal/belief"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// samples is the number of Thompson policies of a step, as in the paper.
const samples = 5

// A learner runs one method in a world. It follows the paper's algorithms:
// Algorithm 1 for methods that look at candidate policies, the generic baseline
// algorithm for the others, which differ only in the acquisition function.
type learner struct {
	*world
	method acquisition.Method
	f      acquisition.Function
	run    Run

	p       *belief.Gaussian // belief, which queries are valued by
	w       *belief.Gaussian // belief that policies are solved for; the same one, but in the authors' Driver
	n       int              // answers so far
	table   *acquisition.Table
	asked   []uint64 // how often each query was asked
	history []acquisition.Asked
	best    float64 // highest rating so far
	rated   bool
	mean    policy // mean-optimal, for the present belief
	archive archive
}

// learn runs method m for a number of answers.
func (w *world) learn(ctx context.Context, m acquisition.Method, answers int) (Run, error) {
	l := &learner{
		world: w, method: m, f: m.New(w.paper), p: w.prior, w: w.prior,
		asked: make([]uint64, len(w.queries)), best: math.Inf(-1),
	}
	if w.weights != nil {
		l.w = w.weights
	}
	if l.count() == 0 {
		l.table = acquisition.NewTable(w.model, l.p, w.queries)
	}
	for {
		if err := l.measure(ctx); err != nil {
			return Run{}, err
		}
		if l.n == answers {
			return l.run, nil
		}
		if err := l.step(ctx); err != nil {
			return Run{}, fmt.Errorf("answer %d: %w", l.n+1, err)
		}
	}
}

// measure solves for the posterior mean and notes how good the policy is.
func (l *learner) measure(ctx context.Context) error {
	mean := l.w.Mean(nil)
	p, err := l.judge.optimal(ctx, mean, l.stream("judge", l.n))
	if err != nil {
		return err
	}
	l.mean = p
	l.run.Solves++
	l.run.Regret = append(l.run.Regret, l.world.best-p.value)
	l.run.MSE = append(l.run.MSE, l.mse(l.p.Mean(nil)))
	l.run.Cosine = append(l.run.Cosine, l.cosine(mean))
	return nil
}

// step asks one question and learns from the answer.
func (l *learner) step(ctx context.Context) error {
	in, queries, err := l.input(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	chosen, err := acquisition.Select(l.f, in)
	l.run.SelectNS = append(l.run.SelectNS, time.Since(began).Nanoseconds())
	if err != nil {
		return err
	}
	if chosen.Query < 0 {
		return fmt.Errorf("there is nothing to ask")
	}
	q := chosen.Query
	if queries != nil {
		q = queries[q]
	}
	l.observe(q, l.answer(q, l.asked[q]))
	return nil
}

// input gathers what the question is chosen from. queries are the indexes of
// the table's queries among the world's; nil if they are the same.
func (l *learner) input(ctx context.Context) (in *acquisition.Input, queries []int, err error) {
	table := l.table
	if table == nil {
		queries, table = l.drawn()
	}
	in = &acquisition.Input{
		Table: table, Rand: l.stream("choose", l.n), Best: l.best, Rated: l.rated,
		Observed: l.n > 0 || l.grounded(), Pool: l.pool, History: l.history, Distance: l.distance,
		Solve: l.solver(ctx),
	}
	policies, err := l.candidates(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	if len(policies) > 0 {
		table.SetPolicies(policies)
	}
	return in, queries, nil
}

// grounded reports whether the prior holds the authors' grounding observation.
func (l *learner) grounded() bool { return l.paper && l.queries[0].Kind.Comparison() }

// drawn returns candidate queries drawn with replacement, as the authors' Driver
// experiment does.
func (l *learner) drawn() ([]int, *acquisition.Table) {
	stream := l.stream("candidate queries", l.n)
	index, queries := make([]int, l.count()), make([]idrl.Query, l.count())
	for i := range index {
		index[i] = stream.IntN(len(l.queries))
		queries[i] = l.queries[index[i]]
	}
	return index, acquisition.NewTable(l.model, l.p, queries)
}

// manyQueries is the number of candidate queries from which on methods that
// solve for a policy a query look at a few of them only.
const manyQueries = 5000

// count returns the number of candidate queries that are drawn for a step; 0 for
// all.
func (l *learner) count() int {
	switch {
	case l.method.Name == "epd" && len(l.queries) > manyQueries:
		return driverDraws
	case l.method.Name == "uniform" || strings.HasPrefix(l.method.Name, "mr"):
		return 0
	default:
		return l.draws
	}
}

// solver returns the solver of EPD for one step. Solves of a step start alike,
// so that what changes is the reward, but in the authors' Driver, where every
// solve has a random start of its own.
func (l *learner) solver(ctx context.Context) func(theta []float64) ([]float64, error) {
	if l.hard != nil {
		stream := l.stream("divergence", l.n)
		return func(theta []float64) ([]float64, error) {
			l.run.Solves++
			return l.hard(theta, stream)
		}
	}
	return remember(func(theta []float64) ([]float64, error) {
		l.run.Solves++
		p, err := l.plan.optimal(ctx, theta, l.stream("divergence", l.n))
		return p.params, err
	})
}

// remember returns f with a memory: queries with equal features change the mean
// in the same way.
func remember(f func([]float64) ([]float64, error)) func([]float64) ([]float64, error) {
	type entry struct{ theta, params []float64 }
	known := map[uint64][]entry{}
	return func(theta []float64) ([]float64, error) {
		key := hash(theta)
		for _, e := range known[key] {
			if slices.Equal(e.theta, theta) {
				return e.params, nil
			}
		}
		params, err := f(theta)
		if err == nil {
			known[key] = append(known[key], entry{slices.Clone(theta), params})
		}
		return params, err
	}
}

// hash mixes the bits of x (Fowler–Noll–Vo).
func hash(x []float64) uint64 {
	h := uint64(14695981039346656037)
	for _, v := range x {
		h = (h ^ math.Float64bits(v)) * 1099511628211
	}
	return h
}

// observe updates the belief with the answer to query q: the assumed-density
// step, exact for Gaussian noise.
func (l *learner) observe(q int, a idrl.Answer) {
	query := l.queries[q]
	l.asked[q]++
	l.n++
	if a.Informative() {
		same := l.p == l.w
		l.p = update(l.model, l.p, query, a)
		if same {
			l.w = l.p
		} else {
			l.w = update(l.model, l.w, query, a)
		}
	}
	if l.table != nil {
		l.table.Observe(query, a, l.p)
	}
	if a.Choice == idrl.Rated {
		l.best, l.rated = max(l.best, a.Rating), true
	}
	l.history = append(l.history, acquisition.Asked{Query: query, Answer: a})
}

// update returns the belief after answer a to q. Unlike belief.Model's it takes
// ratings off the scale of people, for an expert's noise has no bounds.
func update(m belief.Model, g *belief.Gaussian, q idrl.Query, a idrl.Answer) *belief.Gaussian {
	mean, v := idrl.Moments(g, q.X, g.Mean(nil), make([]float64, g.Dim()))
	_, d1, d2 := m.Likelihood(q).LogZ(a, mean, v)
	return g.Observe(q.X, d1, -d2)
}

// An archive holds the distinct policies that a run has solved for.
type archive struct {
	seen map[uint64]bool
	list []idrl.Candidate
}

// add adds c unless a policy with its feature expectation is there.
func (a *archive) add(c idrl.Candidate) {
	if a.seen == nil {
		a.seen = map[uint64]bool{}
	}
	if k := fingerprint(c.Mu); !a.seen[k] {
		a.seen[k] = true
		a.list = append(a.list, c)
	}
}

// fingerprint hashes mu to nine digits, so that rounding makes no difference.
func fingerprint(mu []float64) uint64 {
	scale := 1e9 / (1 + floats.Norm(mu, math.Inf(1)))
	r := make([]float64, len(mu))
	for i, v := range mu {
		r[i] = math.Round(v*scale) + 0 // +0: no negative zero
	}
	return hash(r)
}
