package experiment

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"

	"gonum.org/v1/gonum/floats"
)

// An instance is one instance with what the methods of a seed share: the prior, the
// candidate queries, the solver, and the expert with its stream of answers. No
// method changes it. It is used by one goroutine.
type instance struct {
	seed  uint64
	paper bool

	theta   []float64 // true weights in the units of the belief, length d
	prior   *belief.Gaussian
	model   belief.Model
	queries []idrl.QueryVector
	pool    []idrl.Candidate // whose trajectories the queries compare; nil if queries are about states

	candidateSolver policySolver // solves for candidates
	evalSolver      policySolver // the evaluation solver: it solves for the policy whose regret is measured
	best            float64      // true return of the policy that regret is measured against

	every    int                        // answers from one measurement to the next; 0: 1
	draws    int                        // candidate queries that methods other than Uniform and MR draw for a step; 0: all
	updates  int                        // of IDRL's candidate policies in a run; 0: one for every answer
	variants map[string]func(*instance) // what becomes of the instance for a variant of a method; nil where there are none

	// answer returns the expert's answer to query q when it is asked for the
	// n-th time, from 0: the same for every method.
	answer func(q int, n uint64) idrl.Answer

	answered func(n int) // is called after each answer of a run and the solves that it brought; nil: not called

	distance func(a, b []float64) float64    // of two policies' parameters, for EPD
	mse      func(mean []float64) float64    // error of believed rewards
	known    func(theta []float64) []float64 // the weights that the cosine is about; nil: all

	live *stage // of a session, if the experiment follows the schedule of one; then the rest is about the instance alone

	authorsCode
}

// authorsCode is what only the authors' code does; zero but in paper mode.
type authorsCode struct {
	weights  *belief.Gaussian                             // the belief that policies are solved for; nil: prior
	grounded bool                                         // the prior holds the grounding observation
	noisy    bool                                         // Thompson samples carry observation noise
	noiseVar float64                                      // of an answer
	visits   func(p policy, stream *rand.Rand) visitation // what IDRL knows of a policy

	// hard is EPD's solver, where it is not candidateSolver.
	hard func(ctx context.Context, theta []float64, stream *rand.Rand) ([]float64, error)
}

// A policySolver finds an optimal policy for reward weights.
type policySolver interface {
	optimal(ctx context.Context, theta []float64, stream *rand.Rand) (policy, error)
}

// A warmStarter is a policySolver that can start from policies that a run has found.
type warmStarter interface {
	policySolver
	// from returns the solver that starts from known where that is better.
	from(known []policy) policySolver
}

// A policy is what a policySolver finds.
type policy struct {
	params []float64
	mu     []float64 // feature expectation that true and believed returns are made of, length d
	value  float64   // true return
	cost   cost      // of finding it, where that is counted
}

// A cost is what a solve took.
type cost struct {
	steps int64         // of the environment
	saved time.Duration // that it would have taken, had another run of the seed not asked for the same
}

// A visitation is what one rollout of a policy met.
type visitation struct {
	counts []float64   // sum of the features, length d
	steps  [][]float64 // features of each step, where policies meet no state twice; else nil

	// states says how often each state was met, by its features, where these are
	// not one-hot and policies may rest; else nil.
	states map[string]int
}

// noise returns the variance that the authors' code adds to the difference of
// the returns of two policies: observation noise on every state that they visit
// unequally often. Source: docs/paper-code.md, sections 2 and 3.
func (a visitation) noise(b visitation, noiseVar float64) float64 {
	if a.states != nil {
		return noiseVar * float64(apart(a.states, b.states))
	}
	sum := 0.0
	if a.steps == nil {
		for k := range a.counts {
			d := a.counts[k] - b.counts[k]
			sum += d * d
		}
		return noiseVar * sum
	}
	for t := range a.steps {
		if !floats.Equal(a.steps[t], b.steps[t]) {
			sum += 2 // two states, each met by one policy once
		}
	}
	return noiseVar * sum
}

// apart returns the sum of the squared differences of the counts in a and b. They
// are whole numbers, so that the order of a map makes no difference.
func apart(a, b map[string]int) (sum int) {
	for state, n := range a {
		sum += (n - b[state]) * (n - b[state])
	}
	for state, n := range b {
		if a[state] == 0 {
			sum += n * n
		}
	}
	return sum
}

// withVariant returns w in the variant that the name of a method asks for.
func (w *instance) withVariant(method string) *instance {
	_, name, ok := strings.Cut(method, ":")
	if !ok {
		return w
	}
	out := *w
	w.variants[name](&out)
	return &out
}

// follow runs a method under the schedule that e asks for.
func (w *instance) follow(ctx context.Context, e Experiment, method string) (Run, error) {
	w = w.withVariant(method)
	if w.live == nil {
		return w.learn(ctx, e.Method(method), e.Answers)
	}
	w.live.every = w.every
	return w.live.learn(ctx, e.Method(method), e.Answers)
}

// stream returns a stream that every method of the seed shares.
func (w *instance) stream(purpose string, n int) *rand.Rand {
	return rng.New(w.seed, purpose, uint64(n))
}

// answerStream returns the stream of the answer to query q when it is asked for the n-th
// time.
func (w *instance) answerStream(q int, n uint64) *rand.Rand {
	return rng.New(w.seed, "answer "+string(w.queries[q].ID), n)
}

// cosine returns the cosine of the angle between the believed and the true
// weights, over those that answers can tell; 0 if one of the two is zero.
func (w *instance) cosine(mean []float64) float64 {
	a, b := w.theta, mean
	if w.known != nil {
		a, b = w.known(a), w.known(b)
	}
	if n := floats.Norm(a, 2) * floats.Norm(b, 2); n > 0 {
		return floats.Dot(a, b) / n
	}
	return 0
}
