package trainer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/learn/representation"

	"gonum.org/v1/gonum/floats"
)

// Thompson builds candidates by Thompson sampling: policies that are optimal
// for draws of the reward weights from the belief, as in the paper's Algorithm
// 1, and one that is optimal for their mean. A pool of policies for random
// weights, the same in every generation of a session, gives clips that differ
// from one another, and warm starts.
//
// A rollout in which the simulation breaks down is left out everywhere. A policy
// that has no other is left out too; a candidate is then replaced by the policy
// that its solve started from, if there was one.
//
// The exported fields are set before the first call of Train and not changed
// afterwards. Train may be called from several goroutines.
type Thompson struct {
	NewEnv func() idrl.Environment // required; returns equal environments
	Solver idrl.Solver             // required; fits the environment
	Kind   idrl.QueryKind          // of the questions; default CompareClips

	// First takes the place of Solver where people wait for their first question:
	// for the pool, where it is given no warm starts, so that it may be one that
	// does no more than choose among them, and for the first generation. Default
	// Solver.
	First idrl.Solver

	// PriorScale is the standard deviation of each weight that the pool is solved for.
	// Length d; nil for ones.
	PriorScale []float64

	Samples    int  // Thompson policies of a generation; default 5
	Duel       bool // of those, solve only for the first that differs from the policy for the mean
	Restarts   int  // random starts of each solve; default 10
	Pool       int  // policies of the pool; default 20, negative for none
	MaxQueries int  // more questions than these are thinned out at random; default 2000

	// Rollouts is the number of episodes of each policy that clips are cut from,
	// where two episodes of a policy may differ; elsewhere one does. Default 4.
	Rollouts int

	// Segments is the number of clips from random places of a rollout that are
	// shown besides its opening, if it is at least twice as long as a clip. The
	// places are the same in every generation, and in the n-th rollouts of all
	// policies if these are equally long. Default 0.
	Segments int

	// Encode draws a clip for the annotators' pages. If it is nil the clips
	// have no Media.
	Encode func(idrl.Environment, idrl.Clip) ([]byte, error)

	// Steps returns the name and the encoded raw steps of an episode, which the
	// generation hands over once: those of the pool with the first. If it is nil none
	// are kept.
	Steps func(t *idrl.Trajectory, episode uint64) (idrl.StepsID, []byte, error)

	// Mu returns the feature expectation of a policy. If it is nil, the mean of
	// the discounted features of MuEpisodes episodes stands for it: of the
	// rollouts and, if they are fewer, of more that are not shown. The default of
	// MuEpisodes is Rollouts.
	Mu         func(idrl.Environment, idrl.Policy, *rand.Rand) []float64
	MuEpisodes int

	// Spread hands over the features of each of those episodes, too, by which policies
	// are told apart that do as well from every start and those that do not
	// (idrl.Candidate.Mus). It needs a Mu that is nil.
	Spread bool

	// Remake returns the policy with these Params. It is for solvers to which each
	// warm start costs episodes. If it is set, the policies of the last generation
	// are rolled out anew, and a solve is given one warm start, the best by θ·μ of
	// the pool, of them, and of the candidates so far; if that is better than what
	// the solver makes of it, it is the candidate. If Remake is nil, the best of
	// the pool and all of the last generation are warm starts.
	Remake func(idrl.Environment, []float64) (idrl.Policy, error)

	// Stock may be nil. If it is set, its policies are the pool, and the candidates of
	// the first generation, for which nothing is solved then. It needs Remake.
	Stock *Stock

	// Given may be nil. If it is set, these policies, which are there already, are the pool.
	Given []idrl.Policy

	// Pairs returns the pairs of drawn clips that are worth a comparison, by their places. If
	// it is nil, or there are none, all pairs are that differ in features.
	Pairs func(clips []idrl.Clip) ([][2]int, error)

	// Rated returns the drawn clips that are worth a rating, by their places in order. If it
	// is nil, or there are none, all are.
	Rated func(clips []idrl.Clip) ([]int, error)

	// AfterFalls lets clips show what comes after a fall (idrl.Faller). Otherwise they end with it.
	AfterFalls bool

	lock sync.Mutex
	last *pool // guarded by lock; of the last seed, nil before the first
}

var _ idrl.Trainer = (*Thompson)(nil)

// settings are the exported fields of a Thompson with their defaults.
type settings struct {
	solver, first               idrl.Solver
	kind                        idrl.QueryKind
	priorScale                  []float64
	samples, restarts, poolSize int
	duel                        bool
	maxQueries                  int
	rollouts, segments          int
	encode                      func(idrl.Environment, idrl.Clip) ([]byte, error)
	steps                       func(*idrl.Trajectory, uint64) (idrl.StepsID, []byte, error)
	mu                          func(idrl.Environment, idrl.Policy, *rand.Rand) []float64
	muEpisodes                  int
	spread                      bool
	remake                      func(idrl.Environment, []float64) (idrl.Policy, error)
	given                       []idrl.Policy
	pairs                       func([]idrl.Clip) ([][2]int, error)
	rated                       func([]idrl.Clip) ([]int, error)

	afterFalls bool

	steady bool // clips are steadyClips; of a Stock only
	most   int  // steps of an episode, 0 for all
}

func (t *Thompson) settings() settings {
	return settings{
		solver: t.Solver, first: t.First, kind: cmp.Or(t.Kind, idrl.CompareClips).Made(), priorScale: t.PriorScale,
		samples: cmp.Or(t.Samples, 5), duel: t.Duel, restarts: cmp.Or(t.Restarts, 10), poolSize: max(0, cmp.Or(t.Pool, 20)),
		maxQueries: cmp.Or(t.MaxQueries, 2000),
		rollouts:   max(1, cmp.Or(t.Rollouts, 4)), segments: t.Segments,
		encode: t.Encode, steps: t.Steps, mu: t.Mu, muEpisodes: t.MuEpisodes, spread: t.Spread, remake: t.Remake, given: t.Given, pairs: t.Pairs, rated: t.Rated,
		afterFalls: t.AfterFalls,
	}
}

// Train solves for the candidates of job, rolls them out, and lists the
// questions about their clips and those of the pool. The result is a function
// of job and of t's settings. It returns ctx.Err() soon after ctx is done, the
// errors of the solvers, Remake and Encode, and an error if fewer than two
// candidates are left because the simulation breaks down under the others.
func (t *Thompson) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	r := t.newRun(job)
	if err := r.check(); err != nil {
		return idrl.Generation{}, err
	}
	if t.Stock != nil && job.First {
		g, err := r.stocked(ctx, t.Stock)
		if err != nil {
			return idrl.Generation{}, fmt.Errorf("train from answer %d: library: %w", job.BasedOn, err)
		}
		return g, nil
	}
	pool, err := t.poolFor(ctx, r)
	if err != nil {
		return idrl.Generation{}, fmt.Errorf("train from answer %d: pool: %w", job.BasedOn, err)
	}
	candidates, rollouts, err := r.candidates(ctx, pool)
	if err != nil {
		return idrl.Generation{}, fmt.Errorf("train from answer %d: %w", job.BasedOn, err)
	}
	g, err := r.generation(ctx, pool, candidates, rollouts)
	if err != nil {
		return idrl.Generation{}, fmt.Errorf("train from answer %d: %w", job.BasedOn, err)
	}
	r.report(r.total(), "done")
	return g, nil
}

// generation returns that of candidates with their rollouts.
func (r *run) generation(ctx context.Context, pool *pool, candidates []idrl.Candidate, rollouts [][]rollout) (g idrl.Generation, err error) {
	clips, keep, queries, err := r.questions(rollouts, pool.rollouts())
	if err != nil {
		return g, err
	}
	if r.job.From > 0 {
		queries = about(queries, rollouts)
	}
	g = idrl.Generation{BasedOn: r.job.BasedOn, Candidates: candidates, Queries: queries}
	shown, rolled := clips[:keep:keep], rollouts
	if r.job.First {
		g.Pool, rolled = r.pooled(pool), slices.Concat(rollouts, pool.rollouts())
		shown = append(shown, openings(pool.rollouts())...)
	}
	g.Clips, err = r.draw(ctx, clips, shown, queries)
	if all := pool.rollouts(); !r.job.First { // it may be that the first generation of the session did not have them
		rolled = slices.Concat(rolled, all[len(all)-pool.added:])
	}
	g.Steps = kept(rolled...)
	return g, err
}

// A run is one call of Train.
type run struct {
	*simulation
	asking
	resume       // what an interrupted run has done, and this one
	prepared int // policies of the pool that this run has to solve for
}

// A simulation plays policies for a job, and cuts clips from their episodes.
type simulation struct {
	settings
	env    idrl.Environment
	reward idrl.Environment // env with the features of the job
	job    idrl.TrainJob
}

// asking is the making of questions about clips, which are drawn to see what they show.
type asking struct {
	*simulation
	drawn map[idrl.ClipID][]byte
}

// newRun returns a run of t, which makes one rollout of a policy if all are alike.
func (t *Thompson) newRun(job idrl.TrainJob) *run {
	s := &simulation{settings: t.settings(), env: t.NewEnv(), job: job}
	s.reward = representation.Environment(s.env, job.Features)
	if !uncertain(s.env) {
		s.rollouts, s.muEpisodes = 1, 1
	}
	return &run{simulation: s, asking: asking{s, map[idrl.ClipID][]byte{}}, resume: resume{before: job.Resume}}
}

func (r *simulation) check() error {
	d := r.reward.Spec().FeatureDim()
	if got := r.job.Posterior.Dim(); got != d {
		return idrl.Errorf(idrl.Invalid, "%s has %d features, but the posterior is about %d weights", r.env.Spec().ID, d, got)
	}
	if !r.kind.Valid() {
		return idrl.Errorf(idrl.Invalid, "unknown query type %q; known: %v", r.kind, idrl.QueryKinds())
	}
	return nil
}

// solves is the number of solves after those of the pool that take time: candidates that First
// makes are chosen from the pool.
func (r *run) solves() int {
	if r.job.First && r.first != nil {
		return 0
	}
	return r.samples + 1
}

// total is the number of solves after those of the pool, and one for the clips.
func (r *run) total() int { return r.solves() + 1 }

// report tells how many steps are done: of the total, after those of the pool.
func (r *run) report(done int, what string) {
	if r.job.Progress != nil {
		r.job.Progress(r.prepared+done, r.prepared+r.total(), what)
	}
}

// candidates solves for the Thompson policies, in the order drawn, and then for the
// mean-optimal one, or for a duel; and rolls each out. Those under which the simulation
// breaks down are left out.
func (r *run) candidates(ctx context.Context, p *pool) ([]idrl.Candidate, [][]rollout, error) {
	known, err := r.known(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	need, duel := acquisition.SamplesAndMean, []solved(nil)
	if r.duel {
		need = acquisition.Duel
	}
	var out []idrl.Candidate
	var rollouts [][]rollout
	draws := rng.New(r.job.Seed, "thompson", uint64(r.job.BasedOn))
	err = learning.Thompson(need, r.samples, r.job.Posterior, draws, func(k int, theta []float64, origin idrl.Origin) (bool, error) {
		r.report(min(k, r.solves()), fmt.Sprintf("solving candidate %d of %d", k+1, r.samples+1))
		c := idrl.Candidate{ID: learning.CandidateID(r.job.BasedOn, k), Origin: origin, Theta: theta}
		s, err := r.candidate(ctx, c, known, rng.New(r.job.Seed, fmt.Sprintf("solve %d", k), uint64(r.job.BasedOn)))
		if errors.Is(err, ErrBroken) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("candidate %s: %w", c.ID, err)
		}
		if r.duel && len(out) == 2 { // the sample before was like the policy for the mean
			out, rollouts = out[:1], rollouts[:1]
		}
		out, rollouts = append(out, describe(c, s)), append(rollouts, s.rollouts)
		if r.remake != nil {
			known = append(known, s)
		}
		duel = append(duel, s)
		return !learning.Alike(duel[0].mu, s.mu), nil
	})
	if err != nil {
		return nil, nil, err
	}
	if len(out) < 2 {
		return nil, nil, fmt.Errorf("%d of %d candidates are left, too few to compare: under the others %w", len(out), r.samples+1, ErrBroken)
	}
	return out, rollouts, nil
}

// candidate solves for c.Theta and rolls the result out. If the simulation
// breaks down under it the best of the known policies is the result, or ErrBroken
// if there is none.
func (r *run) candidate(ctx context.Context, c idrl.Candidate, known []solved, stream *rand.Rand) (solved, error) {
	out, err := r.solve(ctx, c, known, stream)
	k := best(known, c.Theta)
	if k < 0 {
		return out, err
	}
	worse := err == nil && r.remake != nil && floats.Dot(c.Theta, known[k].under) > floats.Dot(c.Theta, out.under)
	if worse || errors.Is(err, ErrBroken) {
		return known[k].as(c.ID), nil
	}
	return out, err
}

func (r *run) solve(ctx context.Context, c idrl.Candidate, known []solved, stream *rand.Rand) (solved, error) {
	by, warm := r.solver, starts(known, c.Theta)
	if r.job.First && r.first != nil {
		by = r.first
	}
	if r.remake == nil {
		warm = append(warm, r.job.Warm...)
	}
	p, err := r.solveOnce(ctx, by, r.task(r.reward, c.Theta, warm), stream)
	if err != nil {
		return solved{}, fmt.Errorf("solve: %w", err)
	}
	s, err := r.try(ctx, c.ID, p, known)
	if err != nil {
		return solved{}, err
	}
	return r.represent(s)
}

func (r *simulation) task(env idrl.Environment, theta []float64, warm [][]float64) idrl.SolveTask {
	return idrl.SolveTask{Env: env, Theta: theta, Warm: warm, Restarts: r.restarts}
}

// known returns the policies whose feature expectations are known before the
// first solve: those of the pool and, if they can be remade, those of the last
// generation.
func (r *run) known(ctx context.Context, p *pool) ([]solved, error) {
	known := make([]solved, len(p.policies))
	for i, s := range p.policies {
		var err error
		if known[i], err = r.represent(s); err != nil {
			return nil, err
		}
	}
	if r.remake == nil {
		return known, nil
	}
	for k, params := range r.job.Warm {
		policy, err := r.remake(r.env, params)
		if err != nil {
			return nil, fmt.Errorf("warm start %d: %w", k, err)
		}
		s, err := r.try(ctx, idrl.PolicyID(fmt.Sprintf("warm%d", k)), policy, known)
		if errors.Is(err, ErrBroken) {
			continue
		}
		if err == nil {
			s, err = r.represent(s)
		}
		if err != nil {
			return nil, err
		}
		known = append(known, s)
	}
	return known, nil
}

// best returns the index of the policy with the highest return θ·μ, the first of
// equals, or -1 if there is none.
func best(known []solved, theta []float64) int {
	best := -1
	for k, s := range known {
		if best < 0 || floats.Dot(theta, s.under) > floats.Dot(theta, known[best].under) {
			best = k
		}
	}
	return best
}

// starts returns the Params of the best of the known policies, if there is one.
func starts(known []solved, theta []float64) [][]float64 {
	k := best(known, theta)
	if k < 0 {
		return nil
	}
	return [][]float64{known[k].policy.Params()}
}
