package experiment

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/learning"
)

// A learner runs one method in an instance: it feeds the learner of package learning with
// policies and answers, and measures what it recommends. Names are those of the paper's
// pseudocode: Π_c are the candidate policies, q* the query and y* the answer.
type learner struct {
	*instance
	method acquisition.Method
	core   *learning.Learner // D, P(r|D), Π_c, u(q, D)
	run    Run

	answers  int                    // of the whole run
	n        int                    // answers so far
	asked    []uint64               // how often each query was asked
	mean     policy                 // π̄*, optimal for the mean of the belief when it was last solved for
	latest   []policy               // Π_c, as it was last updated
	noise    func(i, j int) float64 // acquisition.Input.Noise of Π_c; nil but for IDRL in paper mode
	updating time.Duration          // what the last answer took to learn from
	saved    time.Duration          // by solves that another run had made
}

// learn runs method m. It is Algorithm 1 of the paper (label "algorithm") for the
// methods that look at candidate policies, and Algorithm 3 (label
// "alg:baselines") for the others: they are the same but for Π_c and u. A number
// of answers stands for "not converged", and what the algorithms return at the
// end, the mean-optimal policy, is solved for and measured along the way.
func (w *instance) learn(ctx context.Context, m acquisition.Method, answers int) (Run, error) {
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
func (w *instance) learner(m acquisition.Method) *learner {
	model := w.model
	model.OffScale = true // the noise of an expert has no bounds
	l := &learner{instance: w, method: m, asked: make([]uint64, len(w.queries))}
	cfg := learning.Config{Model: model, Method: m, Schedule: learning.Exact(), Paper: w.paper}
	if w.weights != nil {
		cfg.Solving = w.weights
	}
	if l.drawn() == 0 {
		cfg.Queries = w.queries
	}
	l.core = learning.New(cfg)
	return l
}

// step is the body of the loop of Algorithms 1 and 3. That Π_c is updated first and
// not last makes no difference: it is drawn from the belief after the answer before.
func (l *learner) step(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err // solvers that look policies up do not look at ctx
	}
	if err := l.candidates(ctx); err != nil { // update Π_c
		return err
	}
	q, err := l.choose(ctx) // q* ∈ argmax_q u(q, D)
	if err != nil {
		return err
	}
	y := l.answer(q, l.asked[q])            // y* ← response to q*
	if err := l.observe(q, y); err != nil { // P(r|D ∪ {(q*, y*)}) ∝ P(y*|r, D, q*) P(r|D), D ← D ∪ {(q*, y*)}
		return err
	}
	return l.recommend(ctx) // r̄ ← mean, π̄* ← RL(r̄)
}

// recommend solves for the mean of the belief, π̄* ← RL(r̄), and notes how good
// the policy and the belief are, if either is wanted after so many answers.
func (l *learner) recommend(ctx context.Context) error {
	measured := l.n%max(1, l.every) == 0 || l.n == l.answers
	if !measured && !l.method.Needs.Candidates.Mean() {
		return nil
	}
	mean := l.core.Solving().Mean(nil)
	known := l.latest
	if l.mean.params != nil {
		known = append(slices.Clone(known), l.mean)
	}
	p, err := startingFrom(l.evalSolver, known).optimal(ctx, mean, l.stream("judge", l.n))
	if err != nil {
		return fmt.Errorf("mean-optimal policy: %w", err)
	}
	l.mean = p
	l.charge(p)
	if !measured {
		return nil
	}
	l.run.Regret = append(l.run.Regret, l.instance.best-p.value)
	l.run.MSE = append(l.run.MSE, l.mse(mean))
	l.run.Cosine = append(l.run.Cosine, l.cosine(mean))
	return nil
}

// startingFrom returns the solver p as it starts from known policies, if it can.
func startingFrom(p policySolver, known []policy) policySolver {
	if s, ok := p.(warmStarter); ok {
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
func (l *learner) choose(ctx context.Context) (int, error) {
	began := time.Now()
	queries, index := l.present()
	chosen, err := l.core.Choose(learning.Question{Askable: queries, Aid: l.aid(ctx)}, l.stream("choose", l.n))
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

// aid gathers what u(q, D) is made of besides what the learner knows.
func (l *learner) aid(ctx context.Context) acquisition.Input {
	in := acquisition.Input{Observed: l.observed(), Pool: l.pool, Distance: l.distance, Solve: l.imagined(ctx)}
	if in.Observed {
		in.Noise = l.noise
	}
	return in
}

// observe takes in the answer to query q, and notes the time of it.
func (l *learner) observe(q int, a idrl.Answer) error {
	began := time.Now()
	if err := l.core.Observe(l.queries[q], a); err != nil {
		return err
	}
	l.asked[q]++
	l.n++
	l.updating = time.Since(began)
	return nil
}

// observed reports whether the belief holds an observation: an answer, or the
// authors' grounding one.
func (l *learner) observed() bool { return l.n > 0 || l.grounded }
