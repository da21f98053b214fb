//go:build mujoco

package mujoco_test

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/floats"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// drawn returns every environment that can be drawn, by name.
func drawn(t *testing.T) map[string]*mujoco.Env {
	t.Helper()
	out := map[string]*mujoco.Env{}
	for _, id := range mujoco.Tasks() {
		out[id] = newTask(t, id, mujoco.Options{})
	}
	for id, build := range map[string]func() (*mujoco.Env, error){
		"swimmer-corridor": mujoco.NewSwimmerCorridor,
		"ant-corridor":     mujoco.NewAntCorridor,
		"ant-direction":    mujoco.NewAntDirection,
		"own-cart":         loadCart(t).New,
	} {
		e := must.Get(build())(t)
		out[id] = e
	}
	return out
}

func scene(e *mujoco.Env) (s drawing.Scene) {
	e.Draw(&s)
	return s
}

// TestScenes checks of every environment what a person needs to see: a level
// floor with squares, more than one paint, and a body in the middle of the view.
func TestScenes(t *testing.T) {
	for id, e := range drawn(t) {
		t.Run(id, func(t *testing.T) {
			e.Reset(rng.New(1, "env", 0))
			s := scene(e)
			if c := s.Camera; !c.Solid() || math.Abs(c.W/c.H-4./3) > 1e-9 || c.Elevation <= 0 {
				t.Errorf("camera is %+v; want one from above with a view of 4:3", c)
			}
			floors := slices.DeleteFunc(slices.Clone(s.Static), func(s drawing.Shape) bool { return s.Kind != drawing.Checker })
			if len(floors) != 1 {
				t.Fatalf("there are %d floors, want 1", len(floors))
			}
			paints := map[drawing.Paint]bool{}
			near := math.Inf(1)
			for _, m := range s.Moving {
				paints[m.Paint] = true
				for i := 0; i < len(m.Pts); i += 3 {
					near = min(near, math.Hypot(m.Pts[i]-s.Camera.X, m.Pts[i+1]-s.Camera.Y))
					if m.Kind != drawing.Circle && m.Pts[i+2]+0.2 < floors[0].Pts[2] {
						t.Errorf("%s %+v lies below the floor at %v", m.Kind, m, floors[0].Pts[2])
					}
				}
			}
			if len(paints) < 2 || near > s.Camera.W/4 {
				t.Errorf("%d paints, want 2 or more; nearest body %v m from the middle of a view of %v m", len(paints), near, s.Camera.W)
			}
		})
	}
}

// TestHopperWhereItStands compares a scene with the measures of the model.
func TestHopperWhereItStands(t *testing.T) {
	e := newTask(t, mujoco.HopperID, mujoco.Options{})
	e.Reset(rng.New(1, "env", 0))
	state := e.Snapshot(nil)
	copy(state[2:], []float64{3, 1.25, 0, 0, 0, 0}) // x, z, pitch and three joints
	e.Restore(state)
	s := scene(e)
	want := [][]float64{
		{3, 0, 1.05, 3, 0, 1.45},     // trunk
		{3, 0, 0.6, 3, 0, 1.05},      // thigh
		{3, 0, 0.1, 3, 0, 0.6},       // leg
		{2.87, 0, 0.1, 3.26, 0, 0.1}, // foot
		{3, 0, 1.45},                 // head
	}
	if len(s.Moving) != len(want) || s.Camera.X != 3 || s.Camera.Y != 0 {
		t.Fatalf("%d shapes around (%v, %v), want %d around (3, 0)", len(s.Moving), s.Camera.X, s.Camera.Y, len(want))
	}
	for i, m := range s.Moving {
		swapped := append(slices.Clone(m.Pts[len(m.Pts)-3:]), m.Pts[:len(m.Pts)-3]...)
		if !floats.EqualApprox(m.Pts, want[i], 1e-9) && !floats.EqualApprox(swapped, want[i], 1e-9) {
			t.Errorf("shape %d has points %v, want %v", i, m.Pts, want[i])
		}
	}
}

// TestDrawStep draws steps, and compares each frame with the scene of an
// environment of the same model whose steps are single engine steps.
func TestDrawStep(t *testing.T) {
	for id, e := range drawn(t) {
		t.Run(id, func(t *testing.T) {
			e.Reset(rng.New(1, "env", 0))
			stream := rng.New(1, "act", 0)
			for range 3 {
				before := e.Snapshot(nil)
				a := make(idrl.Action, e.Spec().Actions.Dim())
				for i := range a {
					a[i] = e.Spec().Actions.Low[i] + stream.Float64()*(e.Spec().Actions.High[i]-e.Spec().Actions.Low[i])
				}
				e.Step(a)
				after := e.Snapshot(nil)
				var got [][]float64
				e.DrawStep(before, after, func(s *drawing.Scene) { got = append(got, points(*s)) })
				if !slices.Equal(e.Snapshot(nil), after) {
					t.Error("DrawStep leaves another state")
				}
				want := e.SingleSteps(before, after)
				if len(got) != e.Substeps() || len(want) != len(got) {
					t.Fatalf("%d frames, want %d", len(got), e.Substeps())
				}
				for k := range got {
					if !slices.Equal(got[k], points(want[k])) {
						t.Errorf("frame %d is not the scene after %d engine steps", k, k+1)
					}
				}
			}
		})
	}
}

// points returns all numbers of a scene that change.
func points(s drawing.Scene) []float64 {
	out := []float64{s.Camera.X, s.Camera.Y, s.Camera.Z}
	for _, m := range s.Moving {
		out = append(out, m.Pts...)
	}
	return out
}

func TestDrawAllocatesThePointsAlone(t *testing.T) {
	e := newTask(t, mujoco.AntID, mujoco.Options{})
	e.Reset(rng.New(1, "env", 0))
	s := scene(e)
	if n := testing.AllocsPerRun(50, func() { e.Draw(&s) }); n > 1 {
		t.Errorf("Draw allocates %v times, want once", n)
	}
}
