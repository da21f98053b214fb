package trainer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/learn/representation"

	"gonum.org/v1/gonum/floats"
)

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

// asking makes questions about clips, which it draws to measure what they show.
type asking struct {
	*simulation
	drawn    map[idrl.ClipID][]byte
	everyTwo bool // a generation asks about every two policies that a person can tell apart (offer.by)
}

// newRun returns a run of t, which makes one rollout of a policy if all are alike.
func (t *Thompson) newRun(job idrl.TrainJob) *run {
	s := &simulation{settings: t.settings(), env: t.NewEnv(), job: job}
	s.reward = representation.Environment(s.env, job.Features)
	if !uncertain(s.env) {
		s.rollouts, s.muEpisodes = 1, 1
	}
	return &run{simulation: s, asking: asking{s, map[idrl.ClipID][]byte{}, t.Stock != nil}, resume: resume{before: job.Resume}}
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
