package envtest

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
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
		if step.Kind != r.kinds[i+1] || step.Broken != r.broken[i+1] || !slices.Equal(step.Obs, r.obs[i+1]) || !slices.Equal(step.Phi, r.phi[i+1]) {
			t.Fatalf("step %d after Restore is %v, was %v %v %v", i, step, r.kinds[i+1], r.obs[i+1], r.phi[i+1])
		}
		if got := keeper.Snapshot(nil); !step.Broken && !slices.Equal(got, r.snapshots[i+1]) {
			t.Fatalf("state %d is %v when stepped into from a restored one, was %v", i+1, got, r.snapshots[i+1])
		}
	}
	again := rollout(t, env, 4, 0, func() { keeper.Restore(keeper.Snapshot(nil)) })
	if !same(r, again) {
		t.Error("an episode differs if each of its states is saved and restored on the way")
	}
}

// testFaller: whether a state is fallen depends on the state alone.
func testFaller(t *testing.T, newEnv func() idrl.Environment) {
	env := newEnv()
	keeper, ok := env.(idrl.Snapshotter)
	if !ok {
		return
	}
	stream := rng.New(5, "env", 0)
	var states [][]float64
	var fallen []bool
	for _, step := range idrl.Episode(env, func([]float64) idrl.Action { return randomAction(env.Spec().Actions, stream) }, stream) {
		if step.Broken {
			break
		}
		states, fallen = append(states, keeper.Snapshot(nil)), append(fallen, env.(idrl.Faller).Fallen())
	}
	for i, s := range states {
		if keeper.Restore(s); env.(idrl.Faller).Fallen() != fallen[i] {
			t.Fatalf("state %d: fallen %v after a step, and not so when restored", i, fallen[i])
		}
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
	var first, now drawing.Scene
	drawn := false
	check := func() {
		env.(drawing.Drawer).Draw(&now)
		if !drawn {
			env.(drawing.Drawer).Draw(&first) // a scene of its own
			drawn = true
		}
		checkScene(t, first, now)
	}
	for n := range uint64(3) {
		rollout(t, env, 5, n, check)
	}
	dirty := drawing.Scene{Static: make([]drawing.Shape, 3), Moving: make([]drawing.Shape, 3)}
	env.(drawing.Drawer).Draw(&dirty)
	checkScene(t, first, dirty)
}

// testSubsteps draws the steps of an episode in a fresh instance.
func testSubsteps(t *testing.T, newEnv func() idrl.Environment) {
	r := rollout(t, newEnv(), 9, 0, nil)
	env, other := newEnv().(drawing.Substepper), newEnv().(drawing.Substepper)
	env.(idrl.Environment).Reset(rng.New(9, "env", 1))
	other.(idrl.Environment).Reset(rng.New(9, "env", 2))
	n := env.Substeps()
	if n < 1 {
		t.Fatalf("a step is drawn in %d frames, want at least 1", n)
	}
	var want drawing.Scene
	for i := range r.actions {
		if r.broken[i+1] {
			continue
		}
		before, after := r.snapshots[i], r.snapshots[i+1]
		other.Restore(after)
		other.Draw(&want)
		frames, ends := 0, false
		env.DrawStep(before, after, func(s *drawing.Scene) {
			checkScene(t, want, *s)
			frames++
			ends = equalScenes(*s, want)
		})
		switch {
		case frames != n:
			t.Fatalf("step %d is drawn in %d frames, want %d", i, frames, n)
		case !ends:
			t.Fatalf("the last frame of step %d is not what Draw shows after it", i)
		case !slices.Equal(env.Snapshot(nil), after):
			t.Fatalf("DrawStep of step %d leaves the environment in %v, want %v", i, env.Snapshot(nil), after)
		}
	}
}

// equalScenes compares scenes of one shape.
func equalScenes(a, b drawing.Scene) bool {
	return a.Camera == b.Camera && slices.EqualFunc(a.Moving, b.Moving, func(s, t drawing.Shape) bool { return slices.Equal(s.Pts, t.Pts) })
}

// checkScene compares the shape of a scene with that of the first one.
func checkScene(t *testing.T, first, now drawing.Scene) {
	t.Helper()
	checkCamera(t, first.Camera, now.Camera)
	if len(now.Moving) != len(first.Moving) || len(now.Static) != len(first.Static) {
		t.Fatalf("scene has %d static and %d moving shapes, had %d and %d",
			len(now.Static), len(now.Moving), len(first.Static), len(first.Moving))
	}
	for i, s := range now.Static {
		checkShape(t, now.Camera, s)
		f := first.Static[i]
		if s.Trail || s.Kind != f.Kind || s.Paint != f.Paint || s.Size != f.Size || s.Text != f.Text || !slices.Equal(s.Pts, f.Pts) {
			t.Fatalf("static shape %d is %+v, was %+v", i, s, f)
		}
	}
	for i, s := range now.Moving {
		checkShape(t, now.Camera, s)
		f := first.Moving[i]
		if s.Kind == drawing.Checker || s.Kind != f.Kind || s.Paint != f.Paint || s.Size != f.Size || s.Text != f.Text || s.Trail != f.Trail || len(s.Pts) != len(f.Pts) {
			t.Fatalf("moving shape %d is %+v, was %+v", i, s, f)
		}
	}
}

func checkCamera(t *testing.T, first, now drawing.Camera) {
	t.Helper()
	still := first // but for what may follow something
	still.X, still.Y, still.Z = now.X, now.Y, now.Z
	ok := now == still && finite([]float64{now.X, now.Y, now.Z, now.W, now.H, now.Distance, now.Azimuth, now.Elevation}) &&
		now.W > 0 && now.H > 0 && now.Distance >= 0 && math.Abs(now.Elevation) < math.Pi/2
	if !now.Solid() {
		ok = ok && now.Z == 0 && now.Azimuth == 0 && now.Elevation == 0
	}
	if !ok {
		t.Fatalf("camera is %+v, was %+v", now, first)
	}
}

func checkShape(t *testing.T, c drawing.Camera, s drawing.Shape) {
	t.Helper()
	n, rest := len(s.Pts)/c.PointDim(), len(s.Pts)%c.PointDim()
	ok := rest == 0 && finite(s.Pts) && s.Paint != "" && s.Size >= 0 && !math.IsInf(s.Size, 1)
	switch s.Kind {
	case drawing.Polyline:
		ok = ok && n >= 2 && s.Size > 0
	case drawing.Polygon:
		ok = ok && n >= 3
	case drawing.Circle:
		ok = ok && n == 1 && s.Size > 0
	case drawing.Text:
		ok = ok && n == 1 && s.Size > 0 && s.Text != ""
	case drawing.Ball, drawing.Checker:
		ok = ok && c.Solid() && n == 1 && s.Size > 0
	case drawing.Capsule:
		ok = ok && c.Solid() && n == 2 && s.Size > 0
	case drawing.Box:
		ok = ok && c.Solid() && n == 4
	default:
		ok = false
	}
	if !ok {
		t.Fatalf("shape %+v cannot be drawn by a camera %+v", s, c)
	}
}
