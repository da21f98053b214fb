package sac_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/sac"

	"gonum.org/v1/gonum/floats"
)

func smallSolver() sac.Solver {
	s := sac.Live()
	s.Hidden, s.Batch, s.Rate, s.Starts, s.Replay, s.NormaliseReward = []int{32, 32}, 64, 1e-3, 300, 10_000, true
	return sac.Solver{Settings: s, Steps: 3000, Every: 700, Episodes: 2}
}

func lineTask(theta ...float64) idrl.SolveTask {
	return idrl.SolveTask{Env: pointmass.New(pointmass.Config{Horizon: 40}), Theta: theta}
}

// worth returns the mean return of p over ten episodes.
func worth(p idrl.Policy, theta []float64) (sum float64) {
	env := pointmass.New(pointmass.Config{Horizon: 40})
	for k := range 10 {
		for a, step := range idrl.EpisodeOf(env, p, rng.New(9, "worth", uint64(k))) {
			if a != nil {
				sum += floats.Dot(theta, step.Phi) / 10
			}
		}
	}
	return sum
}

// It does what the weights ask for, to either side.
func TestSolverFollowsTheWeights(t *testing.T) {
	for _, theta := range [][]float64{{1, -0.1, 0}, {-1, -0.1, 0}} {
		p, err := smallSolver().Solve(t.Context(), lineTask(theta...), rng.New(1, "solve", 0))
		if err != nil {
			t.Fatal(err)
		}
		if v := worth(p, theta); v < 28 { // full force all the time gives 31; rest, 0
			t.Errorf("weights %v: return %.1f", theta, v)
		}
	}
}

// The result is a function of task and stream, also if the solve was interrupted after any
// look; a state that is damaged is left out.
func TestSolverResumes(t *testing.T) {
	theta := []float64{1, -0.1, 0}
	var states [][]byte
	task := lineTask(theta...)
	task.Save = func(b []byte) { states = append(states, slices.Clone(b)) }
	solve := func(task idrl.SolveTask) []float64 {
		t.Helper()
		p, err := smallSolver().Solve(t.Context(), task, rng.New(2, "solve", 0))
		if err != nil {
			t.Fatal(err)
		}
		return p.Params()
	}
	want := solve(task)
	if len(states) != 5 {
		t.Fatalf("%d states, want one after each of 5 looks", len(states))
	}
	damaged := slices.Clone(states[1])
	damaged[len(damaged)/3] ^= 1
	for i, state := range append(states, damaged, nil) {
		again := lineTask(theta...)
		again.Resume = state
		if got := solve(again); !slices.Equal(got, want) {
			t.Errorf("from state %d the policy is another", i)
		}
	}
}

// A warm start that is better than all that the training finds is the result.
func TestSolverKeepsTheBest(t *testing.T) {
	theta := []float64{1, -0.1, 0}
	good, err := smallSolver().Solve(t.Context(), lineTask(theta...), rng.New(3, "solve", 0))
	if err != nil {
		t.Fatal(err)
	}
	brief := smallSolver()
	brief.Steps, brief.Every = 50, 50
	task := lineTask(theta...)
	task.Warm = [][]float64{good.Params()}
	p, err := brief.Solve(t.Context(), task, rng.New(4, "solve", 0))
	if err != nil || !slices.Equal(p.Params(), good.Params()) {
		t.Errorf("the warm start is not kept, %v", err)
	}
}

func TestSolverRefuses(t *testing.T) {
	nan := math.NaN()
	warm := lineTask(1, 0, 0)
	warm.Warm = [][]float64{{1, 2, 3}}
	for name, task := range map[string]idrl.SolveTask{"weights": lineTask(1), "no number": lineTask(nan, 0, 0), "warm start": warm} {
		if _, err := smallSolver().Solve(t.Context(), task, rng.New(1, "solve", 0)); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad := smallSolver()
	bad.Steps = -1
	if _, err := bad.Solve(t.Context(), lineTask(1, 0, 0), rng.New(1, "solve", 0)); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("negative steps: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := smallSolver().Solve(ctx, lineTask(1, 0, 0), rng.New(1, "solve", 0)); !errors.Is(err, context.Canceled) {
		t.Errorf("a solve that was stopped returned %v", err)
	}
}
