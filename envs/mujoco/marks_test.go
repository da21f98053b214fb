//go:build mujoco

package mujoco_test

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/measure"
)

// moved returns a state of e whose first position is x m forward, and the second one y m if the robot
// moves in a plane that is level. sec is the time.
func moved(e *mujoco.Env, sec, x, y float64) []float64 {
	e.Reset(rng.New(1, "env", 0))
	s := e.Snapshot(nil)
	s[1], s[2] = sec, x
	if id := e.Spec().ID; id == mujoco.AntID || id == mujoco.SwimmerID {
		s[3] = y
	}
	return s
}

// Marks count from where the clip begins, wherever that is, to beyond where it ends; an edge of the
// squares lies at the start.
func TestMarks(t *testing.T) {
	for _, test := range []struct {
		id        string
		from, way float64
		want      []string
	}{
		{mujoco.HopperID, 0, 2.3, []string{"0 m", "1 m", "2 m", "3 m"}},
		{mujoco.HopperID, 7.123, 2.3, []string{"0 m", "1 m", "2 m", "3 m"}},
		{mujoco.HalfCheetahID, 3, -1.6, []string{"−2 m", "−1 m", "0 m", "1 m"}},
		{mujoco.AntID, 0, 0, []string{"0 m", "1 m"}},
	} {
		e := listed(t, test.id)
		marks := e.Marks([][]float64{moved(e, 0, test.from, 0), moved(e, 1, test.from+test.way/2, 0), moved(e, 2, test.from+test.way, 0)})
		var got []string
		floors, zero := 0, math.NaN()
		for _, s := range marks {
			if s.Kind == drawing.Text {
				got = append(got, s.Text)
				if s.Text == "0 m" {
					zero = s.Pts[0]
				}
			}
			if s.Kind == drawing.Checker {
				floors++
				if math.Abs(s.Pts[0]-test.from) > 0.11 { // the first state has noise
					t.Errorf("%s from %v: an edge of the squares is at %v", test.id, test.from, s.Pts[0])
				}
			}
		}
		if !slices.Equal(got, test.want) || floors != 1 || !(math.Abs(zero-test.from) <= 0.11) {
			t.Errorf("%s from %v by %v: marks %q, 0 at %v, %d floors; want %q", test.id, test.from, test.way, got, zero, floors, test.want)
		}
	}
	for _, id := range []string{mujoco.AntCorridorID, mujoco.InvertedPendulumID, mujoco.ReacherID} {
		e := listed(t, id)
		e.Reset(rng.New(1, "env", 0))
		if marks := e.Marks([][]float64{e.Snapshot(nil), e.Snapshot(nil)}); len(marks) != 0 {
			t.Errorf("%s has %d marks, want none", id, len(marks))
		}
	}
}

// A robot that goes aside passes a row of marks about every width of the view.
func TestMarksAside(t *testing.T) {
	e := listed(t, mujoco.AntID)
	for _, test := range []struct {
		aside float64
		rows  int
	}{{0, 1}, {1, 1}, {3, 2}, {-6, 3}} {
		rows := map[float64]bool{}
		for _, s := range e.Marks([][]float64{moved(e, 0, 0, 0), moved(e, 2, 0, test.aside)}) {
			if s.Kind == drawing.Text {
				rows[s.Pts[1]] = true
			}
		}
		if len(rows) != test.rows {
			t.Errorf("%v m aside: %d rows of marks, want %d", test.aside, len(rows), test.rows)
		}
	}
}

// Steps and texts of marks are round, whatever the size of the view.
func TestMarksOfAnySize(t *testing.T) {
	for _, test := range []struct {
		width float64
		step  string
	}{{3, "1 m"}, {7.5, "2 m"}, {0.05, "0.01 m"}, {0.6, "0.2 m"}, {400, "100 m"}, {9000, "2000 m"}} {
		if got := mujoco.MarkText(test.width); got != test.step {
			t.Errorf("in a view of %v m marks are %q apart, want %q", test.width, got, test.step)
		}
	}
}

// The line over a clip says how far a robot goes, and how fast.
func TestNarrateTheWay(t *testing.T) {
	for _, test := range []struct {
		id              string
		from, to, aside float64
		want            string
	}{
		{mujoco.HopperID, 0, 2.4, 0, "2.4 m forward, 1.2 m/s"},
		{mujoco.HopperID, 7, 6.7, 0, "0.3 m backwards, 0.1 m/s"},
		{mujoco.SwimmerID, 0, 0.1, 0, "0.1 m forward, 0.05 m/s"},
		{mujoco.HopperID, 0, 0.02, 0, "0.0 m forward"},
		{mujoco.AntID, 0, 3, -4, "3.0 m forward, 4.0 m sideways, 2.5 m/s"},
		{mujoco.AntID, 0, -0.04, 0.5, "0.0 m forward, 0.5 m sideways, 0.3 m/s"},
	} {
		e := listed(t, test.id)
		from, to := moved(e, 3, test.from, 0), moved(e, 5, test.to, test.aside)
		if got := e.Narrate(from, to); got != test.want {
			t.Errorf("%s from %v to %v: %q, want %q", test.id, test.from, test.to, got, test.want)
		}
		if got := e.Narrate(from, nil); got != "" {
			t.Errorf("of a still of %s it is said: %q", test.id, got)
		}
	}
	for _, e := range []*mujoco.Env{listed(t, mujoco.ReacherID), newCustom(t, loadCart(t))} { // of the second it is not known which way is forward
		e.Reset(rng.New(1, "env", 0))
		if got := e.Narrate(e.Snapshot(nil), e.Snapshot(nil)); got != "" {
			t.Errorf("%s says %q", e.Spec().ID, got)
		}
	}
}

// Marks do not tell places apart: the same motion somewhere else is the same clip to a person.
func TestMarksTellNoPlaces(t *testing.T) {
	e := listed(t, mujoco.HopperID)
	e.Reset(rng.New(1, "env", 0))
	states := [][]float64{e.Snapshot(nil)}
	for range 60 {
		e.Step(idrl.Action{0.1, -0.2, 0.3})
		states = append(states, e.Snapshot(nil))
	}
	var views []*measure.View
	for _, shift := range []float64{0, 7.4} {
		c := idrl.Clip{ID: "c", Steps: len(states) - 1, Phi: make([]float64, e.Spec().FeatureDim())}
		for _, s := range states {
			s = slices.Clone(s)
			s[2] += shift
			c.Snapshots = append(c.Snapshots, s)
		}
		b := must.Get(clip.Encode(e, c))(t)
		if !slices.Equal(e.Snapshot(nil), c.Snapshots[c.Steps]) {
			t.Error("the environment is not left in the last state")
		}
		decoded := must.Get(clip.Decode(b))(t)
		if decoded.Header.Marks < 3 {
			t.Errorf("the clip has %d marks, want a line and two numbers or more", decoded.Header.Marks)
		}
		v := must.Get(measure.New(decoded))(t)
		views = append(views, v)
	}
	if alike, err := measure.Alike(views[0], views[1]); !alike || err != nil {
		t.Errorf("the same motion at another place is alike: %v, %v", alike, err)
	}
}
