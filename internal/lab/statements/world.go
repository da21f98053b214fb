package statements

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"

	"tiebreak/envs"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/data/recordings/recordingstest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/training"

	"gonum.org/v1/gonum/floats"
)

// A World is an environment that sessions are about.
type World struct {
	Name, About string
	MuJoCo      bool // it needs MuJoCo

	list envs.List
	ref  string // in list
}

// landers is the name of the world of imported rollouts.
const landers = "rollouts"

// worlds are the names of all worlds, and what they are.
var worlds = []World{
	{Name: "gridworld", About: "hand-made features, another layout for each seed"},
	{Name: "chain", About: "one feature for each state"},
	{Name: "driver", About: "a local solver"},
	{Name: "junction", About: "two policies"},
	{Name: "half-cheetah", About: "a session that begins with a library, and trains after every fifth answer; it needs MuJoCo", MuJoCo: true},
	{Name: landers, About: "16 imported rollouts of four policies, of 72 to 440 steps, compared by the mean of a step"},
}

// Worlds returns the names of the worlds, with what they are.
func Worlds() []World { return slices.Clone(worlds) }

// FindWorld returns the world of that name. Folder is where it may keep files; the caller removes
// it. It returns an error of kind Invalid if there is none.
func FindWorld(ctx context.Context, name, folder string) (World, error) {
	i := slices.IndexFunc(worlds, func(w World) bool { return w.Name == name })
	if i < 0 {
		return World{}, idrl.Errorf(idrl.Invalid, "unknown world %q", name)
	}
	w := worlds[i]
	if name != landers {
		w.list, w.ref = envs.Catalogue(), name
		return w, nil
	}
	from, into := filepath.Join(folder, "landers"), filepath.Join(folder, "imported")
	if err := errors.Join(os.MkdirAll(from, 0o700), os.MkdirAll(into, 0o700), recordingstest.Landers(from, 0)); err != nil {
		return w, err
	}
	if _, err := recordings.Import(ctx, recordings.Config{From: from, Into: into, Name: landers}); err != nil {
		return w, err
	}
	var err error
	if w.list, err = envs.NewRollouts(into).List(); err != nil {
		return w, err
	}
	w.ref = w.list[0].Ref()
	return w, nil
}

// spec returns the settings of a session of a seed: the defaults, with a training after every
// answer whose result is in use one answer later; five of robots.
func (w World) spec(seed uint64) (idrl.SessionSpec, error) {
	every := int64(1)
	if w.MuJoCo {
		every = 5
	}
	spec := settings.Complete(idrl.SessionSpec{
		ID: "stated", Title: w.Name, Env: w.ref, Seed: seed, TrainEvery: every, AdoptAfter: every,
	})
	return training.Complete(w.list, spec)
}

// restarts is the number of searches for the best policy under the truth, where it is searched for.
const restarts = 50

// best returns the true return of the best policy that a solver finds for weights theta; −∞ where
// policies are given and nothing is solved, and of robots, of which the session speaks of the known policies alone.
func (w World) best(ctx context.Context, spec idrl.SessionSpec, theta []float64) (float64, error) {
	if w.Name == landers || w.MuJoCo {
		return math.Inf(-1), nil
	}
	env, err := training.Environment(w.list, spec)
	if err != nil {
		return 0, err
	}
	exact, err := solver.For(env)
	if err != nil {
		return 0, err
	}
	p, err := exact.Solve(ctx, idrl.SolveTask{Env: env, Theta: theta, Restarts: restarts}, rng.New(spec.Seed, "true best", 0))
	if err != nil {
		return 0, err
	}
	return floats.Dot(theta, solver.Mu(env, p, rng.New(spec.Seed, "true best", 1))), nil
}
