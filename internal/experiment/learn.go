package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"tiebreak/internal/acquisition"
	"tiebreak/internal/belief"
	"tiebreak/internal/idrl"
)

// A learner runs one method in a world. Its names are those of the paper's
// pseudocode: D is the history, P(r|D) the belief, Π_c the candidate policies, q*
// the query and y* the answer.
type learner struct {
	*world
	method acquisition.Method
	f      acquisition.Function // u(q, D)
	run    Run

	answers  int                 // of the whole run
	n        int                 // answers so far
	p        *belief.Gaussian    // P(r|D)
	w        *belief.Gaussian    // P(r|D) as policies are solved for it; p itself, but in the authors' Driver
	history  []acquisition.Asked // D
	table    *acquisition.Table  // of all candidate queries; nil where some are drawn for every step
	asked    []uint64            // how often each query was asked
	best     float64             // highest rating so far
	rated    bool                // there is one
	mean     policy              // π̄*, optimal for the mean of the belief when it was last solved for
	latest   []policy            // Π_c, as it was last updated
	panel    panel               // and as the method looks at it
	archive  archive             // every policy solved for, where the method wants them
	updating time.Duration       // what the last answer took to learn from
	saved    time.Duration       // by solves that another run had made
}

// learn runs method m. It is Algorithm 1 of the paper (label "algorithm") for the
// methods that look at candidate policies, and Algorithm 3 (label
// "alg:baselines") for the others: they are the same but for Π_c and u. A number
// of answers stands for "not converged", and what the algorithms return at the
// end, the mean-optimal policy, is solved for and measured along the way.
func (w *world) learn(ctx context.Context, m acquisition.Method, answers int) (Run, error) {
	began := time.Now()
	l := w.learner(m)
	l.answers = answers
	if err := l.recommend(ctx); err != nil {
		return Run{}, err
	}
	for l.n < answers {
		if err := l.step(ctx); err != nil {
			return Run{}, fmt.Errorf("answer %d: %w", l.n+1, err)
		}
		if l.answered != nil {
			l.answered(l.n)
		}
	}
	if l.run.Steps > 0 {
		l.run.WallNS = (time.Since(began) + l.saved).Nanoseconds()
	}
	return l.run, nil
}

// learner returns a learner that knows nothing: D ← {}, P(r|D) ← P(r).
func (w *world) learner(m acquisition.Method) *learner {
	l := &learner{
		world: w, method: m, f: m.New(w.paper), p: w.prior, w: w.prior,
		asked: make([]uint64, len(w.queries)), best: math.Inf(-1),
	}
	if w.weights != nil {
		l.w = w.weights
	}
	if l.drawn() == 0 {
		l.table = acquisition.NewTable(w.model, l.valuing(), w.queries)
	}
	return l
}

// step is the body of the loop of Algorithms 1 and 3. That Π_c is updated first and
// not last makes no difference: it is drawn from the belief after the answer before.
func (l *learner) step(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err // solvers that look policies up do not look at ctx
	}
	c, err := l.candidates(ctx) // update Π_c
	if err != nil {
		return err
	}
	q, err := l.choose(ctx, c) // q* ∈ argmax_q u(q, D)
	if err != nil {
		return err
	}
	y := l.answer(q, l.asked[q]) // y* ← response to q*
	l.observe(q, y)              // P(r|D ∪ {(q*, y*)}) ∝ P(y*|r, D, q*) P(r|D), D ← D ∪ {(q*, y*)}
	return l.recommend(ctx)      // r̄ ← mean, π̄* ← RL(r̄)
}

// recommend solves for the mean of the belief, π̄* ← RL(r̄), and notes how good
// the policy and the belief are, if either is wanted after so many answers.
func (l *learner) recommend(ctx context.Context) error {
	measured := l.n%max(1, l.every) == 0 || l.n == l.answers
	if !measured && !l.method.Needs.Candidates.Mean() {
		return nil
	}
	mean := l.w.Mean(nil)
	known := l.latest
	if l.mean.params != nil {
		known = append(slices.Clone(known), l.mean)
	}
	p, err := startingFrom(l.judge, known).optimal(ctx, mean, l.stream("judge", l.n))
	if err != nil {
		return fmt.Errorf("mean-optimal policy: %w", err)
	}
	l.mean = p
	l.charge(p)
	if !measured {
		return nil
	}
	l.run.Regret = append(l.run.Regret, l.world.best-p.value)
	l.run.MSE = append(l.run.MSE, l.mse(mean))
	l.run.Cosine = append(l.run.Cosine, l.cosine(mean))
	return nil
}

// startingFrom returns the planner p as it starts from known policies, if it can.
func startingFrom(p planner, known []policy) planner {
	if s, ok := p.(starter); ok {
		return s.from(known)
	}
	return p
}

// charge notes a solve that found p.
func (l *learner) charge(p policy) {
	l.run.Solves++
	l.run.Steps += p.cost.steps
	l.saved += p.cost.saved
}

// choose returns q*, the index of a query with the highest value, and notes the
// time of it.
func (l *learner) choose(ctx context.Context, c panel) (int, error) {
	began := time.Now()
	table, index := l.present()
	if len(c.policies) > 0 {
		table.SetPolicies(c.policies)
	}
	chosen, err := acquisition.Select(l.f, l.input(ctx, table, c))
	if err != nil {
		return 0, err
	}
	if chosen.Query < 0 {
		return 0, fmt.Errorf("there is nothing to ask")
	}
	l.run.SelectNS = append(l.run.SelectNS, (l.updating + time.Since(began)).Nanoseconds())
	if index != nil {
		return index[chosen.Query], nil
	}
	return chosen.Query, nil
}

// input gathers what u(q, D) is made of.
func (l *learner) input(ctx context.Context, table *acquisition.Table, c panel) *acquisition.Input {
	in := &acquisition.Input{
		Table: table, Candidates: c.present, Rand: l.stream("choose", l.n), Best: l.best, Rated: l.rated,
		Observed: l.observed(), Pool: l.pool, History: l.history, Distance: l.distance, Solve: l.imagined(ctx),
	}
	if in.Observed {
		in.Noise = c.noise
	}
	return in
}

// observe updates the belief with the answer to query q, the assumed-density
// step, exact for Gaussian noise, and what else depends on the answers.
func (l *learner) observe(q int, a idrl.Answer) {
	began := time.Now()
	query := l.queries[q]
	l.asked[q]++
	l.n++
	if a.Informative() {
		one := l.p == l.w
		l.p = update(l.model, l.p, query, a)
		if one {
			l.w = l.p
		} else {
			l.w = update(l.model, l.w, query, a)
		}
	}
	if l.table != nil {
		l.table.Observe(query, a, l.valuing())
	}
	if a.Choice == idrl.Rated {
		l.best, l.rated = max(l.best, a.Rating), true
	}
	l.history = append(l.history, acquisition.Asked{Query: query, Answer: a})
	l.updating = time.Since(began)
}

// update returns the belief after answer a to q. Unlike belief.Model's it takes
// ratings off the scale of people, for an expert's noise has no bounds.
func update(m belief.Model, g *belief.Gaussian, q idrl.Query, a idrl.Answer) *belief.Gaussian {
	mean, v := idrl.Moments(g, q.X, g.Mean(nil), make([]float64, g.Dim()))
	_, d1, d2 := m.Likelihood(q).LogZ(a, mean, v)
	return g.Observe(q.X, d1, -d2)
}

// observed reports whether the belief holds an observation: an answer, or the
// authors' grounding one.
func (l *learner) observed() bool { return l.n > 0 || l.grounded }

// valuing returns the belief that queries are valued by. Where the authors' code
// keeps two, some methods go by that which policies are solved for.
func (l *learner) valuing() *belief.Gaussian {
	if l.method.Needs.Solving {
		return l.w
	}
	return l.p
}
