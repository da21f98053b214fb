package gaits

import (
	"context"
	"encoding/json"
	"fmt"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
)

// round is the number of iterations between two reports of progress.
const round = 10

// Train trains a gait and returns the bytes of its file, a function of g alone.
// It returns ctx.Err() soon after ctx is done, and an error of kind Invalid where
// MuJoCo is missing.
func Train(ctx context.Context, g mujoco.Gait, workers int, progress idrl.Progress) ([]byte, error) {
	newEnv := func() idrl.Environment {
		env, err := g.New()
		if err != nil {
			panic(err) // it was made a moment ago
		}
		return env
	}
	env, err := g.New()
	if err != nil {
		return nil, err
	}
	ars := solver.ARS{
		StepSize: g.Search.StepSize, NoiseStd: g.Search.NoiseStd, Directions: g.Search.Directions, Top: g.Search.Top,
		Episodes: g.Search.Episodes, Normalise: g.Search.Normalise, Iterations: round, Workers: workers, NewEnv: newEnv,
	}
	task := idrl.SolveTask{Env: env, Theta: g.Theta}
	for done := 0; done < g.Iterations; done += round {
		ars.Iterations = min(round, g.Iterations-done)
		p, err := ars.Solve(ctx, task, rng.New(g.Seed, "gait "+g.Name, uint64(done)))
		if err != nil {
			return nil, fmt.Errorf("train %s: %w", g.Name, err)
		}
		task.Warm = [][]float64{p.Params()}
		progress(min(done+round, g.Iterations), g.Iterations, fmt.Sprintf("%s: return %.3f", g.Name, value(newEnv(), g, p)))
	}
	p, err := solver.NewLinear(env.Spec(), task.Warm[0])
	if err != nil {
		return nil, err
	}
	f := mujoco.GaitFile{Name: g.Name, Seed: g.Seed, Key: g.Key(), Return: value(newEnv(), g, p), Params: p.Params()}
	b, err := json.MarshalIndent(f, "", " ")
	return append(b, '\n'), err
}

// value returns the mean return of ten episodes of p under the reward of training.
func value(env idrl.Environment, g mujoco.Gait, p idrl.Policy) float64 {
	return floats.Dot(g.Theta, solver.Mu(env, p, rng.New(g.Seed, "value "+g.Name, 0)))
}
