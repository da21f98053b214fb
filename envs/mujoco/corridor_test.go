//go:build mujoco

package mujoco_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// at returns a state of e whose root is x m along the corridor, straight and at rest.
func at(e *mujoco.Env, x float64) []float64 {
	e.Reset(rng.New(1, "env", 0))
	s := e.Snapshot(nil)
	s[2], s[3] = x, 0
	if e.Spec().ID == mujoco.SwimmerCorridorID {
		copy(s[4:7], []float64{0, 0, 0})
	}
	return s
}

// A clip of a corridor says how far the goal is and whether the robot stays: the goal of the
// swimmer is from 16.5 to 19.5 m, that of the ant from 22 to 26 m.
func TestNarrate(t *testing.T) {
	for _, test := range []struct {
		id       string
		from, to float64 // of the middle of the body
		want     string
	}{
		{mujoco.SwimmerCorridorID, 0, 1.6, "The goal is 16 m to the right."},
		{mujoco.SwimmerCorridorID, 0, 1.4, "The goal is 16 m to the right. The robot stays where it is."},
		{mujoco.SwimmerCorridorID, 14, 12, "The goal is 2.5 m to the right."},
		{mujoco.SwimmerCorridorID, 17, 17, "At the goal. The robot stays where it is."},
		{mujoco.SwimmerCorridorID, 23.6, 20, "The goal is 4.1 m to the left."},
		{mujoco.AntCorridorID, 0, 1.2, "The goal is 22 m to the right."},
		{mujoco.AntCorridorID, 0, 1.1, "The goal is 22 m to the right. The robot stays where it is."},
	} {
		e := drawn(t)[test.id]
		if got := e.Narrate(at(e, test.from), at(e, test.to)); got != test.want {
			t.Errorf("%s from %v to %v: %q, want %q", test.id, test.from, test.to, got, test.want)
		}
	}
}

// What is said of a clip goes with its bytes.
func TestClipOfACorridor(t *testing.T) {
	e := drawn(t)[mujoco.SwimmerCorridorID]
	s := at(e, 3)
	b, err := clip.Encode(e, idrl.Clip{ID: "c", Steps: 1, Phi: make([]float64, e.Spec().FeatureDim()), Snapshots: [][]float64{s, s}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := clip.Decode(b)
	if err != nil || !strings.HasSuffix(c.Header.Note, "The robot stays where it is.") {
		t.Errorf("note %q, %v", c.Header.Note, err)
	}
	if !slices.Equal(e.Snapshot(nil), s) {
		t.Error("the environment is not left in the last state")
	}
}

// The arrow lies on the floor within the view and points to the goal, whichever way that is;
// it lies in the goal once that is in view.
func TestPointer(t *testing.T) {
	for id, goal := range map[string]float64{mujoco.SwimmerCorridorID: 18, mujoco.AntCorridorID: 24} {
		e := drawn(t)[id]
		for _, x := range []float64{0, 10, goal - 1, goal + 1, goal + 9} {
			e.Restore(at(e, x))
			s := scene(e)
			arrow := s.Moving[len(s.Moving)-1]
			if arrow.Kind != drawing.Polygon {
				t.Fatalf("%s: the last shape is a %s", id, arrow.Kind)
			}
			tip, mean := arrow.Pts[0], 0.0
			for i := 0; i < len(arrow.Pts); i += 3 {
				mean += arrow.Pts[i] / float64(len(arrow.Pts)/3)
				if math.Abs(arrow.Pts[i]-s.Camera.X) > 0.5*s.Camera.W {
					t.Errorf("%s at %v: the arrow leaves the view", id, x)
				}
			}
			if (tip-mean)*(goal-s.Camera.X) <= 0 {
				t.Errorf("%s at %v: the arrow points away from the goal", id, x)
			}
			if math.Abs(goal-x) < 2 && math.Abs(tip-goal) > 1e-9 {
				t.Errorf("%s at %v: the tip is at %v, want the goal", id, x, tip)
			}
		}
	}
}

// Clips of another form are those of one environment alone.
func TestReclip(t *testing.T) {
	e, other := listed(t, mujoco.AntID), listed(t, mujoco.AntID)
	was := other.Spec().ClipSteps
	e.Reclip(7, 0.5)
	if s := e.Spec(); s.ClipSteps != 7 || s.Playback != 0.5 || other.Spec().ClipSteps != was {
		t.Errorf("clips of %d steps at %v; of another environment %d", s.ClipSteps, s.Playback, other.Spec().ClipSteps)
	}
}

// No part of a robot is in a wall as it is drawn, or beyond the line on the near side.
func TestNoRobotInAWall(t *testing.T) {
	for _, id := range []string{mujoco.AntCorridorID, mujoco.SwimmerCorridorID} {
		e := listed(t, id)
		most := math.Inf(-1) // into the wall
		var s drawing.Scene
		for i, p := range policies(t, e) {
			for _, c := range playedClips(t, e, p, uint64(i)) {
				c.Scene(&s, 0)
				left, right, side := inner(t, s.Static)
				for f := range c.Frames {
					c.Scene(&s, float64(f))
					for _, m := range s.Moving {
						if m.Kind != drawing.Capsule && m.Kind != drawing.Ball {
							continue
						}
						for k := 0; k < len(m.Pts); k += 3 {
							x, y := m.Pts[k], m.Pts[k+1]
							most = max(most, left-x+m.Size, x+m.Size-right, math.Abs(y)+m.Size-side)
						}
					}
				}
			}
		}
		if most > 0 || most < -0.5 {
			t.Errorf("%s: the robot is %.2f m in a wall at most, want −0.5 to 0", id, most)
		}
	}
}

// inner returns the least and greatest x of the walls of a corridor, and how far they are from its middle line.
func inner(t *testing.T, static []drawing.Shape) (left, right, side float64) {
	t.Helper()
	for _, s := range static {
		if s.Kind == drawing.Polyline && len(s.Pts) == 6 { // the near side
			return s.Pts[0], s.Pts[3], -s.Pts[1]
		}
	}
	t.Fatal("a corridor has no line at its near side")
	return 0, 0, 0
}
