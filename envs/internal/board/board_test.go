package board_test

import (
	"testing"

	"tiebreak/envs/envtest"
	"tiebreak/envs/internal/board"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// triangle is a board of three fields: from the first, action 0 leads to the
// second and action 1 to the second or third; the others lead back or stay.
func triangle() *board.Env {
	next := [][]int{{1}, {1, 2, 2, 2}, {0}, {1}, {2}, {2}}
	return board.New(board.Config{
		ID: "triangle", Labels: []string{"a", "b", "c"}, Actions: 2, Purpose: "Judge.", Look: []string{"Where is it?"},
		Next: func(s, a int) []int { return next[2*s+a] },
		Kernel: func(s, t int) float64 {
			if s == t {
				return 1
			}
			return 0.25
		},
		Place: func(s int) (x, y float64) { return []float64{0, 2, 1}[s], []float64{0, 0, 2}[s] },
	})
}

func TestContract(t *testing.T) {
	envtest.Run(t, func() idrl.Environment { return triangle() })
}

// TestRepeatedOutcome: a field that Next returns three times of four has
// probability 3/4. The contract compares steps with it.
func TestRepeatedOutcome(t *testing.T) {
	if p := triangle().Transition(nil, 0, 1); p[0] != 0 || p[1] != 0.25 || p[2] != 0.75 {
		t.Errorf("the outcomes have probabilities %v, want 0, 0.25, 0.75", p)
	}
}

func TestNames(t *testing.T) {
	spec := triangle().Spec()
	if spec.ID != "triangle" || spec.FeatureNames[2] != "Field c" {
		t.Errorf("the spec says %q and %q, want triangle and Field c", spec.ID, spec.FeatureNames[2])
	}
	if seconds := float64(spec.ClipSteps) * spec.StepSeconds / spec.Playback; seconds != 3 {
		t.Errorf("a clip lasts %v s, want 3", seconds)
	}
}

// TestRoadsAndArrows: fields 0 and 1 are joined both ways, from 0 to 2 there is
// but one, and staying has no arrow.
func TestRoadsAndArrows(t *testing.T) {
	var scene drawing.Scene
	triangle().Draw(&scene)
	var roads, arrows, labels int
	for _, s := range scene.Static {
		switch {
		case s.Kind == drawing.Polyline && s.Paint == drawing.Surface:
			roads++
		case s.Paint == drawing.Wall:
			arrows++
		case s.Kind == drawing.Text:
			labels++
		}
	}
	if roads != 2 || arrows != 3 || labels != 3 {
		t.Errorf("%d roads, %d arrows and %d labels are drawn, want 2, 3 and 3", roads, arrows, labels)
	}
	if c := scene.Camera; c.X != 1 || c.Y != 1 || c.W != 3.6 || c.H != 3.6 {
		t.Errorf("the view is %+v, want 3.6 × 3.6 around (1, 1)", c)
	}
}

func TestPanics(t *testing.T) {
	env := triangle()
	for name, f := range map[string]func(){
		"a snapshot too short":           func() { env.Restore([]float64{0}) },
		"a snapshot of no field":         func() { env.Restore([]float64{3, 0}) },
		"a snapshot after the end":       func() { env.Restore([]float64{0, 101}) },
		"a random step without a stream": func() { env.Restore([]float64{0, 0}); env.Step(idrl.Action{1}) },
	} {
		if !panics(f) {
			t.Errorf("there is no panic on %s", name)
		}
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

func TestStepDoesNotAllocate(t *testing.T) {
	env := triangle()
	stream := rng.New(1, "steps", 0)
	env.Reset(stream)
	start, action := []float64{0, 0}, idrl.Action{1}
	if n := testing.AllocsPerRun(100, func() { env.Restore(start); env.Step(action) }); n != 0 {
		t.Errorf("a step allocates %v times", n)
	}
}
