//go:build mujoco

package questions

import (
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/questions/questionstest"
)

// A robot that does not move, and two that have fallen, are found.
func TestQuestionsAboutRobots(t *testing.T) {
	entry := must.Get(envs.Catalogue().Find("hopper"))(t)
	env := entry.New(rng.New(1, "layout", 0))
	env.Reset(rng.New(1, "episode", 0))
	start := env.(idrl.Snapshotter).Snapshot(nil)
	for range 300 { // it falls
		env.Step(make(idrl.Action, env.Spec().Actions.Dim()))
	}
	lies := env.(idrl.Snapshotter).Snapshot(nil)
	repeat := func(state []float64) []byte {
		c := idrl.Clip{Steps: 2, Phi: make([]float64, env.Spec().FeatureDim()), Snapshots: [][]float64{state, state, state}}
		b := must.Get(clip.Encode(env, c))(t)
		return b
	}
	s := questionstest.Shelf{"stands": repeat(start), "lies": repeat(lies)}
	list := measured(t, s, questionstest.Ask(1, "a1", idrl.ChoseA, "stands", "lies"), questionstest.Ask(2, "a1", idrl.Equal, "lies", "lies"), questionstest.Ask(3, "a1", idrl.Rated, "lies"))
	for i, want := range []struct{ still, fallen bool }{{true, false}, {true, true}, {true, true}} {
		if q := list[i]; q.Still != want.still || q.Fallen != want.fallen || q.Answerable() {
			t.Errorf("question %d: still %v, fallen %v", q.N, q.Still, q.Fallen)
		}
	}
}
