package trainer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/idrl"
	"tiebreak/internal/trainer"

	"github.com/google/go-cmp/cmp"
)

// saving returns the job of tr that keeps what is saved.
func saving(tr *trainer.Thompson, saved *[][]idrl.Solved) idrl.TrainJob {
	job := jobFor(tr)
	job.Save = func(s []idrl.Solved) { *saved = append(*saved, slices.Clone(s)) }
	return job
}

// TestGoesOn: from each checkpoint of a training follows the same generation, and no
// solve is repeated. One solve ends with a simulation that breaks down.
func TestGoesOn(t *testing.T) {
	second := weights(t, 1)
	search := func(tr *trainer.Thompson) *recording {
		s := &recording{Solver: breaking{tr.Solver, second}}
		tr.Solver = s
		return s
	}
	calm := pushes(pointmass.Config{})
	search(calm)
	var saved [][]idrl.Solved
	want := train(t, calm, saving(calm, &saved))
	if len(saved) != 4 || !saved[3][1].Broken {
		t.Fatalf("saved %d times, the last time %+v; want 4 times", len(saved), saved[len(saved)-1])
	}
	for n, before := range saved {
		tr := pushes(pointmass.Config{})
		s := search(tr)
		var again [][]idrl.Solved
		job := saving(tr, &again)
		job.Solved = before
		got := train(t, tr, job)
		if diff := cmp.Diff(params(want), params(got)); diff != "" || len(got.Queries) != len(want.Queries) {
			t.Errorf("after %d solves: other policies, or %d questions for %d:\n%s", n+1, len(got.Queries), len(want.Queries), diff)
		}
		if len(s.calls) != 4-(n+1) {
			t.Errorf("after %d solves of 4: %d more", n+1, len(s.calls))
		}
		if len(again) > 0 && cmp.Diff(saved[3], again[len(again)-1]) != "" {
			t.Errorf("after %d solves: the last checkpoint is another:\n%s", n+1, cmp.Diff(saved[3], again[len(again)-1]))
		}
	}
}

// What belongs to another job, or cannot be remade, is not used.
func TestForeignSolves(t *testing.T) {
	calm := pushes(pointmass.Config{})
	var saved [][]idrl.Solved
	want := train(t, calm, saving(calm, &saved))
	wrongTheta, wrongParams := slices.Clone(saved[1]), slices.Clone(saved[1])
	wrongTheta[0].Theta = []float64{1, 2, 3}
	wrongParams[0].Params = []float64{1}
	for name, before := range map[string][]idrl.Solved{"weights": wrongTheta, "parameters": wrongParams} {
		tr := pushes(pointmass.Config{})
		s := &recording{Solver: tr.Solver}
		tr.Solver = s
		job := jobFor(tr)
		job.Solved = before
		if got := train(t, tr, job); cmp.Diff(params(want), params(got)) != "" || len(s.calls) != 4 {
			t.Errorf("other %s: %d solves, want 4, or other policies", name, len(s.calls))
		}
	}
}

// Where solves are quick there are no checkpoints.
func TestQuickSolvesAreNotSaved(t *testing.T) {
	tr := thompson(t, "chain", idrl.CompareClips)
	var saved [][]idrl.Solved
	train(t, tr, saving(tr, &saved))
	first := pushes(pointmass.Config{})
	job := saving(first, &saved)
	job.BasedOn, job.First = 0, true
	train(t, first, job)
	if len(saved) > 0 {
		t.Errorf("saved %d times", len(saved))
	}
}

// params returns the policies of a generation, with all that follows from them.
func params(g idrl.Generation) (out [][]float64) {
	for _, c := range g.Candidates {
		out = append(out, c.Params, c.Theta, c.Mu)
	}
	return out
}

// weights returns what the k-th solve of the job is for.
func weights(t *testing.T, k int) []float64 {
	t.Helper()
	tr := pushes(pointmass.Config{})
	s := &recording{Solver: tr.Solver}
	tr.Solver = s
	train(t, tr, jobFor(tr))
	return s.calls[k].Theta
}

// breaking is a solver that finds no policy for some weights.
type breaking struct {
	idrl.Solver
	theta []float64
}

func (b breaking) Solve(ctx context.Context, task idrl.SolveTask, stream *rand.Rand) (idrl.Policy, error) {
	if slices.Equal(task.Theta, b.theta) {
		return nil, fmt.Errorf("search: %w", trainer.ErrBroken)
	}
	return b.Solver.Solve(ctx, task, stream)
}
