package librarian

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/data/library"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/behaviour"
	"tiebreak/internal/plan/solver"
)

// A Skill is a behaviour that is trained for a reward, or known.
type Skill struct {
	Name  string
	Theta map[string]float64 // weights of the reward by features, per second
	Falls bool               // episodes of training end at a fall
	Step  bool               // it is only a step to another skill: it is chosen like what novelty finds
	By    Way
}

// A Way is how a skill is had. It is a value without pointers: the key of a recipe covers it.
type Way interface {
	// learn returns the parameters of the behaviour.
	learn(ctx context.Context, b *Builder, s Skill) ([]float64, error)
}

// skills learns all skills of the recipe.
func (b *Builder) skills(ctx context.Context) error {
	for _, s := range b.Skills {
		b.report("learning " + s.Name)
		params, err := s.By.learn(ctx, b, s)
		if err != nil {
			return fmt.Errorf("learn %s: %w", s.Name, err)
		}
		if err := b.take(ctx, s.Name, params, !s.Step); err != nil {
			return err
		}
		b.learnt[s.Name] = library.Round(params)
	}
	return nil
}

// task is that of a skill.
func (b *Builder) task(s Skill) idrl.SolveTask {
	return idrl.SolveTask{Env: b.arena(s.Falls), Theta: b.weights(s.Theta)}
}

// weights returns θ of weights per second by the names of features, most of which are
// integrals over a step.
func (b *Builder) weights(by map[string]float64) []float64 {
	spec := b.env.Spec()
	theta := make([]float64, spec.FeatureDim())
	for i, name := range spec.FeatureNames {
		theta[i] = by[name] * (1 / spec.StepSeconds)
	}
	return theta
}

// arena returns an environment to search in.
func (b *Builder) arena(falls bool) idrl.Environment {
	if falls {
		return idrl.UntilFall(b.NewEnv())
	}
	return b.NewEnv()
}

// Linear is augmented random search among linear policies with normalised observations.
type Linear struct {
	Iterations      int
	Directions      int     // of an iteration, of which half are used; default 8
	StepSize, Noise float64 // default those of the environment
	Seed            uint64
	From            string // an earlier skill by a linear policy, from which it starts; empty for none
}

func (w Linear) learn(ctx context.Context, b *Builder, s Skill) ([]float64, error) {
	search, directions := b.env.Spec().Search, cmp.Or(w.Directions, 8)
	ars := solver.ARS{
		StepSize: cmp.Or(w.StepSize, search.StepSize), NoiseStd: cmp.Or(w.Noise, search.NoiseStd), Directions: directions, Top: (directions + 1) / 2,
		Episodes: 1, Normalise: true, Iterations: w.Iterations, Workers: b.Workers, NewEnv: func() idrl.Environment { return b.arena(s.Falls) },
	}
	task := b.task(s)
	if own, ok := behaviour.Linear.Own(b.learnt[w.From]); ok {
		task.Warm = [][]float64{own}
		ars.Normalise = len(own) > b.env.Spec().ObsDim*b.env.Spec().Actions.Dim()
	}
	p, err := ars.Solve(ctx, task, stream("skill", w.Seed))
	if err != nil {
		return nil, err
	}
	return behaviour.Linear.Params(p.Params()), nil
}

// Shipped is a linear policy that the project has trained for other uses.
type Shipped struct{ Gait string }

func (w Shipped) learn(context.Context, *Builder, Skill) ([]float64, error) {
	gait, err := mujoco.FindGait(w.Gait)
	if err != nil {
		return nil, err
	}
	params, err := gait.Params()
	return behaviour.Linear.Params(params), err
}

// Held holds each action at a share of half the width of its bounds, from their middle.
// Actions without a share are in the middle.
type Held struct{ Shares string } // an action a number, such as "1 0 -0.5"

func (w Held) learn(_ context.Context, b *Builder, _ Skill) ([]float64, error) {
	params := make([]float64, solver.OscillatorSize(b.env.Spec()))
	shares, err := numbers(w.Shares, b.env.Spec().Actions.Dim())
	for k, v := range shares {
		params[1+3*k] = v
	}
	return behaviour.Gait.Params(params), err
}

// Given is linear feedback with gains that are known: the action is the sum of the gains
// times the observations less those that are aimed at.
type Given struct {
	Gains string // an observation a number
	Aim   string // the same; what is missing is 0
}

func (w Given) learn(_ context.Context, b *Builder, _ Skill) ([]float64, error) {
	n := b.env.Spec().ObsDim
	gains, err := numbers(w.Gains, n)
	if err != nil {
		return nil, err
	}
	aim, err := numbers(w.Aim, n)
	return behaviour.Linear.Params(slices.Concat(gains, aim, slices.Repeat([]float64{1}, n))), err
}

// numbers returns n numbers; those that text lacks are 0.
func numbers(text string, n int) ([]float64, error) {
	out := make([]float64, n)
	fields := strings.Fields(text)
	if len(fields) > n {
		return nil, fmt.Errorf("%d numbers, want %d at most", len(fields), n)
	}
	for i, f := range fields {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}
