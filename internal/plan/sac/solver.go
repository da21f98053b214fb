package sac

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// A Solver solves for hand-made features by soft actor-critic: its reward is θ·φ. The
// result is the policy with the highest mean return among those that it looks at, the warm
// starts included: actions are the means.
//
// Its Save is told of a checkpoint after each look, and a solve that is resumed gives the
// same policy as one that was not interrupted.
type Solver struct {
	Settings Settings // default Live, with normalised rewards; Features is set
	Steps    int      // of the training; default 100,000
	Every    int      // steps from one look at the policy to the next; default 10,000
	Episodes int      // of a look; default 3
}

var _ idrl.Solver = Solver{}

func (s Solver) withDefaults() Solver {
	if s.Settings.Hidden == nil {
		s.Settings = Live()
		s.Settings.NormaliseReward = true
	}
	s.Settings.Features = true
	s.Steps, s.Every, s.Episodes = cmp.Or(s.Steps, 100_000), cmp.Or(s.Every, 10_000), cmp.Or(s.Episodes, 3)
	return s
}

// Solve returns a *Policy. Warm starts must be parameters of such policies; Restarts are
// ignored. The task's environment is used by nobody else meanwhile. It returns an error of
// kind Invalid if the settings, θ or a warm start do not fit the environment.
func (s Solver) Solve(ctx context.Context, task idrl.SolveTask, stream *rand.Rand) (idrl.Policy, error) {
	s = s.withDefaults()
	spec := task.Env.Spec()
	if s.Steps < 0 || s.Every < 1 || s.Episodes < 1 {
		return nil, idrl.Errorf(idrl.Invalid, "soft actor-critic of %d steps with looks of %d episodes after every %d: none may be negative or 0", s.Steps, s.Episodes, s.Every)
	}
	if len(task.Theta) != spec.FeatureDim() || floats.HasNaN(task.Theta) {
		return nil, idrl.Errorf(idrl.Invalid, "%d weights for the %d features of %s, or one is not a number", len(task.Theta), spec.FeatureDim(), spec.ID)
	}
	v := &solve{Solver: s, task: task, looks: stream.Uint64()}
	agent := Config{Settings: s.Settings, Env: task.Env, Reward: Linear(task.Theta), Seed: stream.Uint64()}
	var err error
	if v.agent, err = New(agent); err != nil {
		return nil, err
	}
	if !v.resume(agent) {
		if err := v.begin(ctx); err != nil {
			return nil, err
		}
	}
	for v.agent.status.Steps < s.Steps {
		if err := v.agent.Run(ctx, min(s.Every, s.Steps-v.agent.status.Steps), nil); err != nil {
			return nil, err
		}
		if err := v.look(ctx, v.agent.Policy(false).Params()); err != nil {
			return nil, err
		}
		if err := v.save(); err != nil {
			return nil, err
		}
	}
	if v.best == nil {
		return nil, fmt.Errorf("soft actor-critic in %s: %w", spec.ID, errBroken)
	}
	return NewPolicy(spec, v.best)
}

var errBroken = errors.New("the simulation broke down with every policy that was looked at")

// A solve is a Solve under way.
type solve struct {
	Solver
	task  idrl.SolveTask
	agent *Agent
	looks uint64 // seed of the episodes of looks, the same in all
	best  []float64
	value float64
}

// A solveState is what the rest of a solve depends on.
type solveState struct {
	Agent []byte
	Best  []float64
	Value float64
}

// begin looks at the warm starts.
func (v *solve) begin(ctx context.Context) error {
	for i, params := range v.task.Warm {
		if _, err := NewPolicy(v.task.Env.Spec(), params); err != nil {
			return fmt.Errorf("warm start %d: %w", i+1, err)
		}
		if err := v.look(ctx, params); err != nil {
			return err
		}
	}
	return nil
}

// resume goes on from the task's state; it returns false, and the agent is as it was, if
// there is none or it cannot be used.
func (v *solve) resume(c Config) bool {
	if v.task.Resume == nil {
		return false
	}
	s, err := pack.Decode[solveState](v.task.Resume)
	if err != nil {
		return false
	}
	agent, err := Resume(c, s.Agent)
	if err != nil {
		return false
	}
	v.agent, v.best, v.value = agent, s.Best, s.Value
	return true
}

func (v *solve) save() error {
	if v.task.Save == nil {
		return nil
	}
	b, err := v.agent.Checkpoint()
	if err != nil {
		return err
	}
	if b, err = pack.Encode(&solveState{b, v.best, v.value}); err != nil {
		return err
	}
	v.task.Save(b)
	return nil
}

// look values a policy and keeps it if it is the best. The agent's episode goes on where
// it was afterwards.
func (v *solve) look(ctx context.Context, params []float64) error {
	p, err := NewPolicy(v.task.Env.Spec(), params)
	if err != nil {
		return err
	}
	value, whole := 0.0, true
	err = v.agent.aside(func() error {
		for k := 0; k < v.Episodes && whole; k++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			var total float64
			total, whole = v.episode(p, k)
			value += total / float64(v.Episodes)
		}
		return nil
	})
	if err == nil && whole && (v.best == nil || value > v.value) {
		v.best, v.value = params, value
	}
	return err
}

// episode returns the return of p in the k-th episode of looks; ok is false if the
// simulation broke down.
func (v *solve) episode(p idrl.Policy, k int) (total float64, ok bool) {
	discount, weight := v.task.Env.Spec().Discount, 1.0
	for a, step := range idrl.EpisodeOf(v.task.Env, p, rng.New(v.looks, "sac look", uint64(k))) {
		if step.Broken {
			return 0, false
		}
		if a != nil {
			total += weight * floats.Dot(v.task.Theta, step.Phi)
			weight *= discount
		}
	}
	return total, true
}
