package trainer_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/trainer"

	"github.com/google/go-cmp/cmp"
)

// saving returns the job of tr that keeps what is saved.
func saving(tr *trainer.Thompson, saved *[]idrl.TrainState) idrl.TrainJob {
	job := jobFor(tr)
	job.Save = func(s idrl.TrainState) {
		s.Pool, s.Solved = slices.Clone(s.Pool), slices.Clone(s.Solved)
		*saved = append(*saved, s)
	}
	return job
}

// between returns the states between two solves.
func between(saved []idrl.TrainState) []idrl.TrainState {
	return slices.DeleteFunc(slices.Clone(saved), func(s idrl.TrainState) bool { return s.Search != nil })
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
	var saved []idrl.TrainState
	want := train(t, calm, saving(calm, &saved))
	if done := between(saved); len(done) != 4 || !done[3].Solved[1].Broken || len(saved) < 10 {
		t.Fatalf("saved %d times, %d between solves; want more, and 4", len(saved), len(done))
	}
	for _, before := range saved {
		tr := pushes(pointmass.Config{})
		s := search(tr)
		var again []idrl.TrainState
		job := saving(tr, &again)
		job.Resume = before
		got := train(t, tr, job)
		name := fmt.Sprintf("after %d solves, in the middle of one: %t", len(before.Solved), before.Search != nil)
		if diff := cmp.Diff(params(want), params(got)); diff != "" || len(got.Queries) != len(want.Queries) {
			t.Errorf("%s: other policies, or %d questions for %d:\n%s", name, len(got.Queries), len(want.Queries), diff)
		}
		if len(s.calls) != 4-len(before.Solved) {
			t.Errorf("%s: %d more of 4", name, len(s.calls))
		}
		if len(again) > 0 && cmp.Diff(saved[len(saved)-1], again[len(again)-1]) != "" {
			t.Errorf("%s: the last checkpoint is another:\n%s", name, cmp.Diff(saved[len(saved)-1], again[len(again)-1]))
		}
	}
}

// counted counts the steps of environments that a trainer makes.
func counted(tr *trainer.Thompson) *int {
	n, inner := new(int), tr.NewEnv
	tr.NewEnv = func() idrl.Environment { return stepped{inner().(solid), n} }
	return n
}

// solid is an environment whose episodes can be shown.
type solid interface {
	idrl.Environment
	idrl.Snapshotter
}

type stepped struct {
	solid
	n *int
}

func (e stepped) Step(a idrl.Action) idrl.TimeStep {
	*e.n++
	return e.solid.Step(a)
}

// TestFirstGoesOn: the first generation goes on from each policy of its pool, without
// an episode of those before it, and tells of their clips again.
func TestFirstGoesOn(t *testing.T) {
	draft := func() *trainer.Thompson {
		tr := pushes(pointmass.Config{})
		tr.Encode = func(_ idrl.Environment, c idrl.Clip) ([]byte, error) {
			return fmt.Append(nil, c.Start, c.Snapshots), nil
		}
		return tr
	}
	calm := draft()
	all := counted(calm)
	var saved []idrl.TrainState
	job := saving(calm, &saved)
	job.BasedOn, job.First = 0, true
	want := train(t, calm, job)
	if len(saved) != 8 || len(saved[7].Pool) != 8 || len(saved[7].Solved) != 0 {
		t.Fatalf("saved %d times, want once a policy of the pool", len(saved))
	}
	for n, before := range saved {
		tr := draft()
		played := counted(tr)
		var again []idrl.TrainState
		told := map[idrl.ClipID]idrl.Clip{}
		job := saving(tr, &again)
		job.BasedOn, job.First, job.Resume = 0, true, before
		job.Made = func(part idrl.Generation) { maps.Copy(told, part.Clips) }
		got := train(t, tr, job)
		if diff := cmp.Diff(bare(want), bare(got)); diff != "" {
			t.Errorf("after %d policies: another generation:\n%s", n+1, diff)
		}
		if share := *all * (8 - (n + 1)) / 8; *played != share {
			t.Errorf("after %d policies: %d steps, want %d of %d", n+1, *played, share, *all)
		}
		if len(again) != 8-(n+1) {
			t.Errorf("after %d policies: saved %d times", n+1, len(again))
		}
		for id, c := range got.Clips {
			if diff := cmp.Diff(c.Media, told[id].Media); diff != "" {
				t.Errorf("after %d policies: clip %s was not told of as it is", n+1, id)
			}
		}
	}
}

// bare returns a generation without what a checkpoint does not keep.
func bare(g idrl.Generation) idrl.Generation {
	clips := map[idrl.ClipID]idrl.Clip{}
	for id, c := range g.Clips {
		c.Snapshots = nil
		clips[id] = c
	}
	g.Clips, g.Candidates = clips, slices.Clone(g.Candidates)
	for k := range g.Candidates {
		g.Candidates[k].Policy = nil
	}
	return g
}

// What belongs to another job, or cannot be remade, is not used.
func TestForeignSolves(t *testing.T) {
	calm := pushes(pointmass.Config{})
	var saved []idrl.TrainState
	want := train(t, calm, saving(calm, &saved))
	state := between(saved)[1]
	wrongTheta, wrongParams := slices.Clone(state.Solved), slices.Clone(state.Solved)
	wrongTheta[0].Theta = []float64{1, 2, 3}
	wrongParams[0].Params = []float64{1}
	for name, before := range map[string]idrl.TrainState{
		"weights": {Solved: wrongTheta}, "parameters": {Solved: wrongParams},
		"search": {Search: saved[len(saved)-2].Search}, "damaged search": {Search: []byte("what")},
	} {
		tr := pushes(pointmass.Config{})
		s := &recording{Solver: tr.Solver}
		tr.Solver = s
		job := jobFor(tr)
		job.Resume = before
		if got := train(t, tr, job); cmp.Diff(params(want), params(got)) != "" || len(s.calls) != 4 {
			t.Errorf("other %s: %d solves, want 4, or other policies", name, len(s.calls))
		}
	}
	first := jobFor(calm)
	first.BasedOn, first.First = 0, true
	var pool []idrl.TrainState
	first.Save = func(s idrl.TrainState) { pool = append(pool, idrl.TrainState{Pool: slices.Clone(s.Pool)}) }
	right := train(t, pushes(pointmass.Config{}), first)
	for name, spoil := range map[string]func(*idrl.Solved){
		"weights":    func(s *idrl.Solved) { s.Theta = []float64{1, 2, 3} },
		"parameters": func(s *idrl.Solved) { s.Params = []float64{1} },
		"rollouts":   func(s *idrl.Solved) { s.Shown = nil },
	} {
		first.Resume = idrl.TrainState{Pool: slices.Clone(pool[3].Pool)}
		spoil(&first.Resume.Pool[1])
		if got := train(t, pushes(pointmass.Config{}), first); cmp.Diff(bare(right), bare(got)) != "" {
			t.Errorf("a pool with other %s: another generation", name)
		}
	}
}

// Where solves and rollouts are quick there are no checkpoints.
func TestQuickSolvesAreNotSaved(t *testing.T) {
	tr := thompson(t, "chain", idrl.CompareClips)
	var saved []idrl.TrainState
	job := saving(tr, &saved)
	train(t, tr, job)
	job.BasedOn, job.First = 0, true
	train(t, thompson(t, "chain", idrl.CompareClips), job)
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
