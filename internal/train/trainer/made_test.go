package trainer_test

import (
	"reflect"
	"slices"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/train/trainer"

	"gonum.org/v1/gonum/floats"
)

// making returns a trainer in a gridworld that makes clips.
func making() *trainer.Thompson {
	tr := manyWalls(idrl.CompareClips)
	tr.Pairs, tr.Noise = nil, 3
	walks := solver.Prepare(tr.NewEnv().(idrl.Tabular))
	tr.Steer = func(theta []float64, from, n int) idrl.Policy { return walks.Walk(theta, from, n) }
	return tr
}

// value is LVAR's value of a comparison under Gaussian noise, by its definition.
func value(g *idrl.Generation, q idrl.Query, p idrl.Posterior, directions [][]float64, noise float64) float64 {
	x, cov := make([]float64, p.Dim()), make([]float64, p.Dim())
	floats.SubTo(x, g.Clips[q.Clips[0]].Phi, g.Clips[q.Clips[1]].Phi)
	sum := 0.0
	for _, d := range directions {
		sum += floats.Dot(d, x) * floats.Dot(d, x)
	}
	p.CovMul(cov, x)
	return sum / (floats.Dot(x, cov) + noise*noise)
}

// TestMadeClips: of the questions about clips that are made one tells more than all about clips of the policies; all of it
// is the same each time; a clip shows what the steps that are kept with it hold; and there are none in a
// first generation.
func TestMadeClips(t *testing.T) {
	tr := making()
	job := jobFor(tr)
	job.BasedOn, job.First, job.Seed = 0, true, 4
	first := train(t, tr, job)
	job.BasedOn, job.First = 8, false
	g := train(t, tr, job)
	if again := train(t, making(), job); !reflect.DeepEqual(g, again) {
		t.Error("a second trainer makes other clips")
	}
	plain := making()
	plain.Steer = nil
	without := train(t, plain, job)
	policies := append(slices.Clone(g.Candidates), first.Pool...)
	c := acquisition.Directions(job.Posterior, policies, rng.New(job.Seed, "made", uint64(job.BasedOn)))
	var directions [][]float64
	for k := range c.Rows {
		directions = append(directions, c.Data[k*c.Stride:][:c.Cols])
	}
	most := func(g *idrl.Generation) (best float64) {
		for _, q := range g.Queries {
			best = max(best, value(g, q, job.Posterior, directions, tr.Noise))
		}
		return best
	}
	made := 0
	for id := range g.Clips {
		if _, known := without.Clips[id]; !known {
			made++
		}
	}
	if made == 0 || made > 4*2*3 {
		t.Errorf("%d clips were made, want some, and two a round at most", made)
	}
	if with, of := most(&g), most(&without); with < 1.02*of {
		t.Errorf("the best question tells %v, and %v without clips that are made", with, of)
	}
	if len(g.Queries) <= len(without.Queries) {
		t.Errorf("%d questions, and %d without clips that are made", len(g.Queries), len(without.Queries))
	}
	for _, c := range g.Clips {
		if _, kept := g.Steps[c.Raw]; c.Raw != "" && !kept && without.Clips[c.ID].ID == "" {
			t.Errorf("the steps of clip %s, which was made, are not kept", c.ID)
		}
	}
	job.BasedOn, job.First = 0, true
	if !reflect.DeepEqual(first, train(t, plain, job)) {
		t.Error("the first generation depends on whether clips are made")
	}
}
