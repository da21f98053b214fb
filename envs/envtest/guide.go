package envtest

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// testGuide tests that a guide is complete and within its limits, that its pictures show
// something, and that an episode goes on as if it had not been asked for.
func testGuide(t *testing.T, newEnv func() idrl.Environment) {
	env := newEnv()
	guide := env.(drawing.Guided).Guide()
	if err := guide.Check(); err != nil {
		t.Fatal(err)
	}
	for _, e := range guide.Legend {
		shapes := slices.Concat(e.Scene.Static, e.Scene.Moving)
		c := e.Scene.Camera
		for _, s := range shapes {
			if len(s.Pts) == 0 || len(s.Pts)%c.PointDim() != 0 || !finite(s.Pts) || s.Paint == "" {
				t.Errorf("the picture of %q has a shape that cannot be drawn: %+v", e.Name, s)
			}
		}
		if !slices.ContainsFunc(shapes, func(s drawing.Shape) bool { return s.Kind != drawing.Checker && inView(s, c) }) {
			t.Errorf("the picture of %q shows nothing", e.Name)
		}
	}
	if keeper, ok := env.(idrl.Snapshotter); ok {
		env.Reset(rng.New(4, "env", 0))
		before := keeper.Snapshot(nil)
		env.(drawing.Guided).Guide()
		if !slices.Equal(keeper.Snapshot(nil), before) {
			t.Error("Guide changes the state of the episode")
		}
	}
}

// inView reports whether a point of s lies within half the view of the middle of c.
func inView(s drawing.Shape, c drawing.Camera) bool {
	dim := c.PointDim()
	at := []float64{c.X, c.Y, c.Z}
	for i := 0; i < len(s.Pts); i += dim {
		far := 0.0
		for k := range dim {
			far = math.Hypot(far, s.Pts[i+k]-at[k])
		}
		if far < c.W/2 {
			return true
		}
	}
	return false
}
