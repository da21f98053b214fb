package envtest

import (
	"slices"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"

	"gonum.org/v1/gonum/floats"
)

// testSnapshot replays an episode from each of its states in a fresh instance.
// The stream is no part of a state, so a step with several outcomes may have
// another one there. Where a state is saved and restored within an episode, the
// stream goes on as if nothing had been done.
func testSnapshot(t *testing.T, newEnv func() idrl.Environment) {
	r := rollout(t, newEnv(), 4, 0, nil)
	env := newEnv()
	env.Reset(rng.New(4, "env", 1))
	keeper := env.(idrl.Snapshotter)
	buffer := make([]float64, 0, 64)
	for i := range r.actions {
		keeper.Restore(r.snapshots[i])
		if buffer = keeper.Snapshot(buffer); !slices.Equal(buffer, r.snapshots[i]) {
			t.Fatalf("state %d is %v after Restore(%v)", i, buffer, r.snapshots[i])
		}
		step := env.Step(r.actions[i])
		if random(env, r.snapshots[i], r.actions[i]) {
			if step.Kind != r.kinds[i+1] {
				t.Fatalf("step %d after Restore has kind %d, was %d", i, step.Kind, r.kinds[i+1])
			}
			continue
		}
		if step.Kind != r.kinds[i+1] || !slices.Equal(step.Obs, r.obs[i+1]) || !slices.Equal(step.Phi, r.phi[i+1]) {
			t.Fatalf("step %d after Restore is %v, was %v %v %v", i, step, r.kinds[i+1], r.obs[i+1], r.phi[i+1])
		}
		if got := keeper.Snapshot(nil); !slices.Equal(got, r.snapshots[i+1]) {
			t.Fatalf("state %d is %v when stepped into from a restored one, was %v", i+1, got, r.snapshots[i+1])
		}
	}
	again := rollout(t, env, 4, 0, func() { keeper.Restore(keeper.Snapshot(nil)) })
	if !same(r, again) {
		t.Error("an episode differs if each of its states is saved and restored on the way")
	}
}

// random reports whether a step from a state has several outcomes, which only a
// table of transitions can tell.
func random(env idrl.Environment, snapshot []float64, a idrl.Action) bool {
	table, ok := env.(idrl.Tabular)
	return ok && floats.Max(table.Transition(nil, int(snapshot[0]), int(a[0]))) < 1
}

// testDraw draws all states of three episodes.
func testDraw(t *testing.T, newEnv func() idrl.Environment) {
	env := newEnv()
	var first, now idrl.Scene
	drawn := false
	check := func() {
		env.(idrl.Drawer).Draw(&now)
		if !drawn {
			env.(idrl.Drawer).Draw(&first) // a scene of its own
			drawn = true
		}
		checkScene(t, first, now)
	}
	for n := range uint64(3) {
		rollout(t, env, 5, n, check)
	}
	dirty := idrl.Scene{Static: make([]idrl.Shape, 3), Moving: make([]idrl.Shape, 3)}
	env.(idrl.Drawer).Draw(&dirty)
	checkScene(t, first, dirty)
}

// checkScene compares the shape of a scene with that of the first one.
func checkScene(t *testing.T, first, now idrl.Scene) {
	t.Helper()
	c := now.Camera
	if !finite([]float64{c.X, c.Y, c.W, c.H}) || !(c.W > 0) || !(c.H > 0) || c.W != first.Camera.W || c.H != first.Camera.H {
		t.Fatalf("camera is %+v, was %+v", c, first.Camera)
	}
	if len(now.Moving) != len(first.Moving) || len(now.Static) != len(first.Static) {
		t.Fatalf("scene has %d static and %d moving shapes, had %d and %d",
			len(now.Static), len(now.Moving), len(first.Static), len(first.Moving))
	}
	for i, s := range now.Static {
		checkShape(t, s)
		f := first.Static[i]
		if s.Trail || s.Kind != f.Kind || s.Paint != f.Paint || s.Size != f.Size || s.Text != f.Text || !slices.Equal(s.Pts, f.Pts) {
			t.Fatalf("static shape %d is %+v, was %+v", i, s, f)
		}
	}
	for i, s := range now.Moving {
		checkShape(t, s)
		f := first.Moving[i]
		if s.Kind != f.Kind || s.Paint != f.Paint || s.Size != f.Size || s.Text != f.Text || s.Trail != f.Trail || len(s.Pts) != len(f.Pts) {
			t.Fatalf("moving shape %d is %+v, was %+v", i, s, f)
		}
	}
}

func checkShape(t *testing.T, s idrl.Shape) {
	t.Helper()
	n := len(s.Pts) / 2
	ok := len(s.Pts)%2 == 0 && finite(s.Pts) && s.Paint != "" && s.Size >= 0
	switch s.Kind {
	case idrl.Polyline:
		ok = ok && n >= 2 && s.Size > 0
	case idrl.Polygon:
		ok = ok && n >= 3
	case idrl.Circle:
		ok = ok && n == 1 && s.Size > 0
	case idrl.Text:
		ok = ok && n == 1 && s.Size > 0 && s.Text != ""
	default:
		ok = false
	}
	if !ok {
		t.Fatalf("shape %+v cannot be drawn", s)
	}
}
