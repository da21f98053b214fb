package trainer

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"tiebreak/internal/idrl"
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

	// Ends has the last steps of a rollout shown in the place of its opening.
	Ends bool

	// Segments is the number of clips from random places of a rollout that are
	// shown besides its opening, if it is at least twice as long as a clip. The
	// places are the same in every generation, and in the n-th rollouts of all
	// policies if these are equally long. Default 0.
	Segments int

	// Brief has the first generation ask about the openings of the policies' first rollouts
	// alone, where a clip takes long to draw and people wait for it. Later ones ask about all clips.
	Brief bool

	// Gradual is the number of clips of Given policies that the first generation asks about, where each takes seconds to be drawn; a later one asks
	// about gradualMore more for each row of the log that it is based on. They are openings first, of each policy in turn.
	// Default 0: all clips at once.
	Gradual int

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

	// Useless returns what a drawn clip shows if that serves hardly any purpose (drawing.Happening), else nothing. It
	// may be nil. If it is set, policies are cheap to find.
	Useless func(idrl.Clip) string

	// Steer may be nil. If it is set, generations but the first also ask about clips that are made to tell most of
	// which policy is the best (makeClips).
	Steer Steer

	// Noise is the standard deviation of the noise that a person compares or rates with, in units of θ·φ. Clips are
	// made for it.
	Noise float64

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
	brief, ends                 bool
	gradual                     int
	encode                      func(idrl.Environment, idrl.Clip) ([]byte, error)
	steps                       func(*idrl.Trajectory, uint64) (idrl.StepsID, []byte, error)
	mu                          func(idrl.Environment, idrl.Policy, *rand.Rand) []float64
	muEpisodes                  int
	spread                      bool
	remake                      func(idrl.Environment, []float64) (idrl.Policy, error)
	given                       []idrl.Policy
	pairs                       func([]idrl.Clip) ([][2]int, error)
	useless                     func(idrl.Clip) string
	rated                       func([]idrl.Clip) ([]int, error)
	steer                       Steer
	noise                       float64

	afterFalls bool

	steady bool // clips are steadyClips; of a Stock only
	most   int  // steps of an episode, 0 for all
}

func (t *Thompson) settings() settings {
	return settings{
		solver: t.Solver, first: t.First, kind: cmp.Or(t.Kind, idrl.CompareClips).Made(), priorScale: t.PriorScale,
		samples: cmp.Or(t.Samples, 5), duel: t.Duel, restarts: cmp.Or(t.Restarts, 10), poolSize: max(0, cmp.Or(t.Pool, 20)),
		maxQueries: cmp.Or(t.MaxQueries, 2000),
		rollouts:   max(1, cmp.Or(t.Rollouts, 4)), segments: t.Segments, brief: t.Brief, ends: t.Ends, gradual: t.Gradual,
		encode: t.Encode, steps: t.Steps, mu: t.Mu, muEpisodes: t.MuEpisodes, spread: t.Spread, remake: t.Remake, given: t.Given, pairs: t.Pairs, useless: t.Useless, rated: t.Rated, steer: t.Steer, noise: t.Noise,
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
	made, err := r.makeClips(ctx, pool, candidates)
	if err != nil {
		return idrl.Generation{}, fmt.Errorf("train from answer %d: %w", job.BasedOn, err)
	}
	g, err := r.generation(ctx, pool, candidates, rollouts, made)
	if err != nil {
		return idrl.Generation{}, fmt.Errorf("train from answer %d: %w", job.BasedOn, err)
	}
	r.report(r.total(), "done")
	return g, nil
}

// generation returns that of candidates with their rollouts, and of clips that were made.
func (r *run) generation(ctx context.Context, pool *pool, candidates []idrl.Candidate, rollouts [][]rollout, made []rollout) (g idrl.Generation, err error) {
	own, others := rollouts, pool.rollouts()
	if r.shortFirst() {
		own, others = brief(own), brief(others)
	}
	if most := r.mostClips(); most > 0 {
		own, others = r.some(own, others, most)
	}
	clips, keep, queries, err := r.questions(own, others, made)
	if err != nil {
		return g, err
	}
	g = idrl.Generation{BasedOn: r.job.BasedOn, Candidates: candidates, Queries: queries}
	shown, rolled := clips[:keep:keep], rollouts
	if r.job.First {
		g.Pool, rolled = r.pooled(pool), slices.Concat(rollouts, pool.rollouts())
		shown = append(shown, openings(pool.rollouts())...)
	}
	if r.gradual > 0 { // of the pool, those that are asked about
		g.Clips, err = r.draw(ctx, clips, clips[:keep:keep], queries)
		undrawn(g.Clips, shown)
	} else {
		g.Clips, err = r.draw(ctx, clips, shown, queries)
	}
	if all := pool.rollouts(); !r.job.First { // it may be that the first generation of the session did not have them
		rolled = slices.Concat(rolled, all[len(all)-pool.added:])
	}
	g.Steps = kept(append(rolled, made)...)
	return g, err
}

// shortFirst reports whether a first generation is made that shows openings alone.
func (r *simulation) shortFirst() bool { return r.brief && r.job.First && !r.kind.Still() }

// brief returns of each policy the first rollout, with its opening alone.
func brief(policies [][]rollout) [][]rollout {
	out := make([][]rollout, len(policies))
	for i, all := range policies {
		first := all[0]
		first.clips = first.clips[:1:1]
		out[i] = []rollout{first}
	}
	return out
}
