package training

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"tiebreak/envs"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/train/trainer"
)

// New returns the trainer of a session, which draws its clips.
func New(list envs.List, spec idrl.SessionSpec) (*trainer.Thompson, error) {
	if _, err := Environment(list, spec); err != nil {
		return nil, err
	}
	return newTrainer(spec, func() idrl.Environment {
		e, err := Environment(list, spec)
		if err != nil {
			panic(err) // it was found a moment ago, and the catalogue is constant
		}
		return e
	})
}

// newTrainer returns the trainer of a session in the environments of newEnv.
func newTrainer(spec idrl.SessionSpec, newEnv func() idrl.Environment) (*trainer.Thompson, error) {
	env := newEnv()
	var sol idrl.Solver
	var err error
	set := recorded(env)
	if set == nil {
		if sol, err = solver.For(env); err != nil {
			return nil, err
		}
	}
	schedule := learning.OfSession(spec)
	method, err := acquisition.Find(spec.Acquisition)
	if err != nil {
		return nil, err
	}
	controls, err := acquisition.Controls(spec)
	if err != nil {
		return nil, err
	}
	noDuel := func(m acquisition.Method) bool { return m.Needs.Candidates != acquisition.Duel }
	t := &trainer.Thompson{
		NewEnv: newEnv, Solver: sol, Kind: spec.Kind.Made(), PriorScale: spec.PriorScale, Samples: schedule.Samples,
		Duel:     !slices.ContainsFunc(append(controls, method), noDuel),
		Restarts: 10, Pool: schedule.Pool, MaxQueries: schedule.Queries, Mu: solver.Mu,
		Encode: clip.Encode, AfterFalls: spec.Questions == idrl.EverythingQuestions,
		Steps: func(t *idrl.Trajectory, episode uint64) (idrl.StepsID, []byte, error) {
			return steps.Encode(steps.Of(t, idrl.Steps{Env: spec.Env, Version: env.Spec().Version, Seed: spec.Seed, Episode: episode}))
		},
	}
	if spec.Questions == idrl.AnswerableQuestions {
		AskAnswerable(t, env, spec.Kind.Made())
	}
	if spec.MakesClips() && set == nil {
		t.Noise = spec.NoiseStd
		MakeClips(t, env)
	}
	if set != nil {
		configureRollouts(t, set, spec)
		if spec.Kind == idrl.JudgeClip {
			t.Ends, t.Segments = true, 0 // each episode is judged by its end
		}
	} else if spec.ByGaits() {
		configureGaits(t)
	} else if search, ok := sol.(solver.ARS); ok {
		configureSearch(t, search, env.Spec())
		_, t.Brief = env.(idrl.Fallible) // it draws in a program of its own
	}
	return t, nil
}

// In an environment that must be searched an episode costs up to 0.2 s.
const (
	// liveEpisodes are those behind a feature expectation and an evaluation of the
	// search, if the environment does not ask for fewer evaluations. They are the
	// same for all policies (common random numbers), so that few tell policies
	// apart; offline, where returns are reported, it takes ten.
	liveEpisodes = 3

	// liveSearch is the number of episodes that the search for one policy may take,
	// where the environment does not say how many steps suit it.
	liveSearch = 40
)

// tabularRollouts are those of a policy in a tabular environment with chance.
const tabularRollouts = 8

// liveSearchSteps returns the environment steps that the search for one policy may take.
func liveSearchSteps(spec idrl.EnvSpec) int {
	return cmp.Or(spec.Search.LiveSteps, liveSearch*spec.Horizon)
}

// configureSearch sets t up for random search: a few drafts first, so that there is a
// question within seconds, and then searches of bounded length.
func configureSearch(t *trainer.Thompson, search solver.ARS, spec idrl.EnvSpec) {
	search.Episodes = min(cmp.Or(search.Episodes, liveEpisodes), liveEpisodes)
	search.MaxSteps = liveSearchSteps(spec)
	t.First, t.Solver, t.Remake = solver.Draft{}, brokenSearch{search}, solver.FromParams
	t.Pool, t.Rollouts, t.Segments = 8, 2, 3
	t.Mu, t.MuEpisodes = nil, liveEpisodes
	if spec.CostSec > 0 {
		configureSlow(t, search, spec)
	}
}

// Seconds of a processor that a slow environment may take for the first clips, and for the search for one policy.
const (
	firstClipsSec = 60
	slowSearchSec = 20
)

// The least for which there are questions, and by which a search makes progress.
const (
	leastPool       = 4
	leastDirections = 2
)

// configureSlow has t do less where the steps of an environment take long, so that the first clips are there within
// a minute, or the least of them. A step of a clip is played once more to draw it.
func configureSlow(t *trainer.Thompson, search solver.ARS, spec idrl.EnvSpec) {
	episode := spec.CostSec * float64(spec.Horizon)
	if episodes := firstClipsSec / (2 * episode); episodes < float64(t.Pool*t.MuEpisodes) {
		t.Rollouts, t.MuEpisodes = 1, 1
		t.Pool = min(t.Pool, max(leastPool, int(episodes)))
	}
	if most := int(slowSearchSec / spec.CostSec); most < search.MaxSteps {
		search.Episodes, search.Directions, search.Top = 1, leastDirections, leastDirections
		search.MaxSteps = max(most, 2*leastDirections*spec.Horizon)
		t.Solver = brokenSearch{search}
	}
}

// brokenSearch tells a trainer that a search found no policy under which the
// simulation holds.
type brokenSearch struct{ idrl.Solver }

// Solve implements idrl.Solver.
func (b brokenSearch) Solve(ctx context.Context, task idrl.SolveTask, stream *rand.Rand) (idrl.Policy, error) {
	p, err := b.Solver.Solve(ctx, task, stream)
	if errors.Is(err, solver.ErrBroken) {
		err = fmt.Errorf("%w: %w", trainer.ErrBroken, err)
	}
	return p, err
}
