// Package trainer builds generations: candidate policies from a belief, the
// clips that show them, and the questions that may be asked about the clips.
package trainer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"

	"gonum.org/v1/gonum/floats"
)

// Thompson builds candidates by Thompson sampling: policies that are optimal
// for draws of the reward weights from the belief, as in the paper's Algorithm
// 1, and one that is optimal for their mean. A pool of policies for random
// weights, the same in every generation of a session, gives clips that differ
// from one another, and warm starts.
//
// The exported fields are set before the first call of Train and not changed
// afterwards. Train may be called from several goroutines.
type Thompson struct {
	NewEnv func() idrl.Environment // required; returns equal environments
	Solver idrl.Solver             // required; fits the environment
	Kind   idrl.QueryKind          // of the questions; default CompareClips

	Samples    int // Thompson policies of a generation; default 5
	Restarts   int // random starts of each solve; default 10
	Pool       int // policies of the pool; default 20, negative for none
	MaxQueries int // more questions than these are thinned out at random; default 2000

	// Rollouts is the number of episodes of each policy that clips are cut from,
	// where two episodes of a policy may differ; elsewhere one does. Default 4.
	Rollouts int

	// Encode draws a clip for the annotators' pages. If it is nil the clips
	// have no Media.
	Encode func(idrl.Environment, idrl.Clip) ([]byte, error)

	// Mu returns the feature expectation of a policy. If it is nil, one
	// discounted episode stands for it, which is exact without randomness and
	// with a finite horizon.
	Mu func(idrl.Environment, idrl.Policy, *rand.Rand) []float64

	lock sync.Mutex
	last *pool // guarded by lock; of the last seed, nil before the first
}

var _ idrl.Trainer = (*Thompson)(nil)

// settings are the exported fields of a Thompson with their defaults.
type settings struct {
	solver                      idrl.Solver
	kind                        idrl.QueryKind
	samples, restarts, poolSize int
	maxQueries, rollouts        int
	encode                      func(idrl.Environment, idrl.Clip) ([]byte, error)
	mu                          func(idrl.Environment, idrl.Policy, *rand.Rand) []float64
}

func (t *Thompson) settings() settings {
	or := func(v, def int) int {
		if v == 0 {
			return def
		}
		return v
	}
	s := settings{
		solver: t.Solver, kind: t.Kind,
		samples: or(t.Samples, 5), restarts: or(t.Restarts, 10), poolSize: max(0, or(t.Pool, 20)), maxQueries: or(t.MaxQueries, 2000),
		rollouts: max(1, or(t.Rollouts, 4)),
		encode:   t.Encode, mu: t.Mu,
	}
	if s.kind == "" {
		s.kind = idrl.CompareClips
	}
	if s.mu == nil {
		s.mu = episodeMu
	}
	return s
}

// Train solves for the candidates of job, rolls them out, and lists the
// questions about their clips and those of the pool. The result is a function
// of job and of t's settings. It returns ctx.Err() soon after ctx is done, and
// the solver's and Encode's errors.
func (t *Thompson) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	r := t.newRun(job)
	if err := r.check(); err != nil {
		return idrl.Generation{}, err
	}
	pool, err := t.poolFor(ctx, r)
	if err != nil {
		return idrl.Generation{}, fmt.Errorf("train from answer %d: pool: %w", job.BasedOn, err)
	}
	candidates, rollouts, err := r.candidates(ctx, pool)
	if err != nil {
		return idrl.Generation{}, fmt.Errorf("train from answer %d: %w", job.BasedOn, err)
	}
	clips, keep, queries := r.questions(rollouts, pool.rollouts)
	g := idrl.Generation{BasedOn: job.BasedOn, Candidates: candidates, Queries: queries}
	if g.Clips, err = r.draw(ctx, clips, keep, queries); err != nil {
		return idrl.Generation{}, fmt.Errorf("train from answer %d: %w", job.BasedOn, err)
	}
	r.report(r.total(), "done")
	return g, nil
}

// A run is one call of Train.
type run struct {
	settings
	env idrl.Environment
	job idrl.TrainJob
}

// newRun returns a run of t, which makes one rollout of a policy if all are alike.
func (t *Thompson) newRun(job idrl.TrainJob) *run {
	r := &run{settings: t.settings(), env: t.NewEnv(), job: job}
	if !uncertain(r.env) {
		r.rollouts = 1
	}
	return r
}

func (r *run) check() error {
	d := r.env.Spec().FeatureDim()
	if got := r.job.Posterior.Dim(); got != d {
		return idrl.Errorf(idrl.Invalid, "%s has %d features, but the belief is about %d weights", r.env.Spec().ID, d, got)
	}
	if !r.kind.Valid() {
		return idrl.Errorf(idrl.Invalid, "unknown query type %q; known: %v", r.kind, idrl.QueryKinds())
	}
	return nil
}

// total is the number of solves of a run that finds its pool ready, and one for
// the clips.
func (r *run) total() int { return r.samples + 2 }

func (r *run) report(done int, what string) {
	if r.job.Progress != nil {
		r.job.Progress(done, r.total(), what)
	}
}

// candidates solves for the Thompson policies, in the order drawn, and then for
// the mean-optimal one, and rolls each out.
func (r *run) candidates(ctx context.Context, p *pool) ([]idrl.Candidate, [][]*idrl.Trajectory, error) {
	draws := rng.New(r.job.Seed, "thompson", uint64(r.job.BasedOn))
	var out []idrl.Candidate
	var rollouts [][]*idrl.Trajectory
	for k := range r.samples + 1 {
		r.report(k, fmt.Sprintf("solving candidate %d of %d", k+1, r.samples+1))
		c := idrl.Candidate{ID: idrl.PolicyID(fmt.Sprintf("g%d.p%d", r.job.BasedOn, k)), Origin: idrl.FromSample}
		if k < r.samples {
			c.Theta = r.job.Posterior.Sample(nil, draws)
		} else {
			c.Theta, c.Origin = r.job.Posterior.Mean(nil), idrl.FromMean
		}
		solved, err := r.solve(ctx, c.Theta, p.warm(c.Theta, r.job.Warm), rng.New(r.job.Seed, fmt.Sprintf("solve %d", k), uint64(r.job.BasedOn)))
		if err != nil {
			return nil, nil, fmt.Errorf("solve candidate %s: %w", c.ID, err)
		}
		c.Policy, c.Params, c.Mu = solved.policy, solved.policy.Params(), solved.mu
		ts, err := r.rollOut(c.ID, c.Policy)
		if err != nil {
			return nil, nil, err
		}
		c.Clip = r.opening(ts[0]).ID
		out, rollouts = append(out, c), append(rollouts, ts)
	}
	return out, rollouts, nil
}

// solved is a policy and its feature expectation.
type solved struct {
	policy idrl.Policy
	mu     []float64
}

func (r *run) solve(ctx context.Context, theta []float64, warm [][]float64, stream *rand.Rand) (solved, error) {
	p, err := r.solver.Solve(ctx, idrl.SolveTask{Env: r.env, Theta: theta, Warm: warm, Restarts: r.restarts}, stream)
	if err != nil {
		return solved{}, err
	}
	return solved{p, r.mu(r.env, p, r.stream("mu", 0))}, nil
}

// stream returns the named stream that every policy of the session shares, so
// that all are judged in the same n-th episode: common random numbers.
func (r *run) stream(purpose string, n int) *rand.Rand {
	return rng.New(r.job.Seed, purpose, uint64(n))
}

// episodeMu returns the discounted features of one episode of p.
func episodeMu(env idrl.Environment, p idrl.Policy, stream *rand.Rand) []float64 {
	spec := env.Spec()
	mu := make([]float64, spec.FeatureDim())
	action := make(idrl.Action, spec.Actions.Dim())
	discount := 1.0
	for step := env.Reset(stream); !step.Kind.Last(); discount *= spec.Discount {
		step = env.Step(p.Act(action, step.Obs, stream))
		floats.AddScaled(mu, discount, step.Phi)
	}
	return mu
}

// rollOut records r.rollouts episodes of p. The n-th episodes of all policies share
// a stream, so that they begin in the same state. It returns an error of kind
// Invalid if the environment cannot save its states.
func (r *run) rollOut(id idrl.PolicyID, p idrl.Policy) ([]*idrl.Trajectory, error) {
	var out []*idrl.Trajectory
	for n := range r.rollouts {
		t, err := r.episode(id, p, n)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// episode records the n-th episode of p.
func (r *run) episode(id idrl.PolicyID, p idrl.Policy, n int) (*idrl.Trajectory, error) {
	states, ok := r.env.(idrl.Snapshotter)
	spec := r.env.Spec()
	if !ok {
		return nil, idrl.Errorf(idrl.Invalid, "environment %q cannot save its states, so nobody can be shown them", spec.ID)
	}
	stream := r.stream("rollout", n)
	t := &idrl.Trajectory{ID: idrl.TrajectoryID(id), Env: spec.ID, Policy: id}
	if n > 0 {
		t.ID = idrl.TrajectoryID(fmt.Sprintf("%s.%d", id, n))
	}
	step := r.env.Reset(stream)
	t.Snapshots = append(t.Snapshots, states.Snapshot(nil))
	for !step.Kind.Last() {
		action := p.Act(make(idrl.Action, spec.Actions.Dim()), step.Obs, stream)
		step = r.env.Step(action)
		t.Actions = append(t.Actions, action)
		t.Phi = append(t.Phi, slices.Clone(step.Phi))
		t.Snapshots = append(t.Snapshots, states.Snapshot(nil))
	}
	t.End = step.Kind
	if err := t.Validate(); err != nil {
		return nil, err
	}
	return t, nil
}

// uncertain reports whether two episodes in env with the same actions may
// differ. It takes it of an environment that does not tell.
func uncertain(env idrl.Environment) bool {
	switch env := env.(type) {
	case idrl.Differentiable: // without randomness
		return false
	case idrl.Tabular:
		return !fixed(env)
	}
	return true
}

// fixed reports whether every episode of env begins in one state and every
// action leads to one.
func fixed(env idrl.Tabular) bool {
	n := env.NumStates()
	p := env.Start(nil)
	if !slices.Contains(p, 1) {
		return false
	}
	for s := range n {
		for a := range env.Spec().Actions.Num {
			if !slices.Contains(env.Transition(p, s, a), 1) {
				return false
			}
		}
	}
	return true
}
