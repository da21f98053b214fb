package measure

import (
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// A stage is a world whose shapes move by closed forms.
type stage struct {
	solid    bool
	sec      float64 // of the clip, simulated
	step     float64 // seconds; 0: 0.025
	playback float64 // 0: 1
	shapes   []drawing.Shape
	static   []drawing.Shape
	camera   [3]float64
	place    func(t float64, shape, point int) []float64 // where a point is
}

// film returns the clip of s.
func (s stage) film() *clip.Clip {
	if s.step == 0 {
		s.step = 0.025
	}
	if s.playback == 0 {
		s.playback = 1
	}
	dim := 2
	c := &clip.Clip{Header: clip.Header{Version: 2, Env: "stage", Sub: 1, FrameSec: s.step, Playback: s.playback, Unit: 1e-6, W: 10, H: 10}}
	if s.solid {
		dim, c.Header.Distance = 3, 10
	}
	n := 1
	for _, shape := range s.shapes {
		moving := clip.Shape{Kind: shape.Kind, Paint: shape.Paint, Size: shape.Size}
		for range max(1, len(shape.Pts)) {
			moving.At = append(moving.At, n)
			n++
		}
		c.Header.Moving = append(c.Header.Moving, moving)
	}
	for _, shape := range s.static {
		c.Header.Static = append(c.Header.Static, clip.Shape{Kind: shape.Kind})
	}
	c.Header.Steps = int(math.Round(s.sec / s.step))
	c.Header.Frames, c.Header.Points = c.Header.Steps+1, n
	for i := range c.Header.Frames {
		row := append([]float64(nil), s.camera[:dim]...)
		for j, shape := range c.Header.Moving {
			for k := range shape.At {
				row = append(row, s.place(float64(i)*s.step, j, k)[:dim]...)
			}
		}
		c.Frames = append(c.Frames, row)
	}
	return c
}

func view(t *testing.T, c *clip.Clip) *View {
	t.Helper()
	v := must.Get(New(c))(t)
	return v
}

func compare(t *testing.T, a, b stage) Pair {
	t.Helper()
	p := must.Get(Compare(view(t, a.film()), view(t, b.film())))(t)
	return p
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s = %v, want %v within %v", what, got, want, within)
	}
}

// slider is a car of flat points that goes at a speed, metres per second, from a place.
func slider(speed, at float64) stage {
	return stage{
		sec: 2, shapes: []drawing.Shape{{Kind: drawing.Polygon, Paint: drawing.Agent, Pts: make([]float64, 4)}},
		place: func(t float64, _, k int) []float64 {
			corner := [4][2]float64{{1, 1}, {1, -1}, {-1, -1}, {-1, 1}}[k]
			return []float64{at + speed*t + corner[0], corner[1]}
		},
	}
}

// bar is a solid capsule of length 2 that turns about its centre at a rate, radians per
// second, from an angle.
func bar(rate, from float64) stage {
	return stage{
		solid: true, sec: 2, shapes: []drawing.Shape{{Kind: drawing.Capsule, Size: 1e-9, Pts: make([]float64, 2)}},
		place: func(t float64, _, k int) []float64 {
			sin, cos := math.Sincos(from + rate*t)
			side := float64(1 - 2*k)
			return []float64{side * cos, 0, 1 + side*sin}
		},
	}
}

// gait walks ahead at 1 m/s on two legs of a metre, which swing against each other at
// 2 Hz with a phase in periods.
func gait(swing, phase float64) stage {
	return stage{
		solid: true, sec: 2, shapes: []drawing.Shape{{Kind: drawing.Capsule, Size: 0.1, Pts: make([]float64, 2)}, {Kind: drawing.Capsule, Size: 0.1, Pts: make([]float64, 2)}},
		place: func(t float64, leg, k int) []float64 {
			if k == 0 {
				return []float64{t, 0, 1}
			}
			side := float64(1 - 2*leg)
			sin, cos := math.Sincos(side * swing * math.Sin(2*math.Pi*(2*t+phase)))
			return []float64{t + sin, 0, 1 - cos}
		},
	}
}

// A square with corners at (±1, ±1) has size 2√2; of a circle, twice the radius.
func TestSize(t *testing.T) {
	near(t, "square", view(t, slider(0, 0).film()).Size(), 2*math.Sqrt2, 1e-12)
	s := slider(0, 0)
	s.shapes = []drawing.Shape{{Kind: drawing.Circle, Paint: drawing.Agent, Size: 0.3}}
	near(t, "circle", view(t, s.film()).Size(), 0.6, 1e-12)
	near(t, "bar", view(t, bar(1, 0).film()).Size(), 2, 1e-9)
}

func TestMotion(t *testing.T) {
	fast := slider(3, 0)
	fast.playback = 2
	slow := slider(3, 0)
	slow.playback = 0.5
	for _, test := range []struct {
		name            string
		stage           stage
		world, relative float64
	}{
		{"at rest", slider(0, 0), 0, 0},
		{"translation", slider(3, 0), 3 / (2 * math.Sqrt2), 0},
		{"playback 2", fast, 2 * 3 / (2 * math.Sqrt2), 0},
		{"slow motion", slow, 0.5 * 3 / (2 * math.Sqrt2), 0},
		{"rotation", bar(1, 0), 0.5, 0.5}, // speed 1 of both ends of a body of size 2
		{"playback has no effect on a shape", bar(-2, 1), 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := view(t, test.stage.film()).Motion()
			near(t, "in the world", m.World, test.world, 2e-3)
			near(t, "relative", m.Relative, test.relative, 2e-3)
		})
	}
}

// Two bars at rest at an angle: the ends are 2 sin(angle/2) apart, and the size is 2.
func TestPoseOfTurnedBars(t *testing.T) {
	for _, angle := range []float64{0, 0.1, 1, math.Pi / 2} {
		near(t, "pose", compare(t, bar(0, 0), bar(0, angle)).Pose, math.Sin(angle/2), 1e-9)
	}
}

// Bars that turn the same way are alike after a shift in time of up to a quarter of the
// clip; the rest of the angle stays.
func TestPoseIsTheLeastOverShifts(t *testing.T) {
	near(t, "shift within a quarter", compare(t, bar(1, 0), bar(1, 0.4)).Pose, 0, 1e-9)
	near(t, "shift beyond it", compare(t, bar(1, 0), bar(1, 1.48)).Pose, math.Sin(0.5), 0.02)
}

// A gait out of step is the same gait, whatever the phase, up to half a frame; one that
// drags its legs is another.
func TestGaitOutOfStep(t *testing.T) {
	for _, phase := range []float64{0, 0.1, 0.25, 0.5, 0.77} {
		p := compare(t, gait(0.8, 0), gait(0.8, phase))
		if p.Pose > 0.07 || !p.Alike() || p.Easy() || p.Answerable() {
			t.Errorf("phase %v: %.3f and %.3f apart, alike %v, easy %v", phase, p.Pose, p.Path, p.Alike(), p.Easy())
		}
	}
	if p := compare(t, gait(0.8, 0), gait(0, 0)); p.Alike() || !p.Answerable() {
		t.Errorf("a swing and none are %.3f and %.3f apart: alike", p.Pose, p.Path)
	}
}

// Two sliders at speeds u and v come to lie |u−v|·t apart, |u−v| s in the mean of 2 s.
func TestPathOfSliders(t *testing.T) {
	size := 2 * math.Sqrt2
	p := compare(t, slider(1, 0), slider(-0.5, 0))
	near(t, "path", p.Path, 1.5/size, 1e-9)
	near(t, "end", p.End, 3/size, 1e-9)
	near(t, "pose", p.Pose, 0, 1e-9)
	near(t, "place", p.Place, 0, 1e-9)
	if !p.Easy() || !p.Answerable() {
		t.Error("a car that goes ahead and one that reverses cannot be told apart")
	}
}

func TestPlace(t *testing.T) {
	followed := func(s stage, x float64) stage { s.camera = [3]float64{x}; return s }
	numbered := func(s stage) stage { s.static = []drawing.Shape{{Kind: drawing.Text}}; return s }
	size := 2 * math.Sqrt2
	for _, test := range []struct {
		name string
		a, b stage
		want float64
	}{
		{"flat, fixed camera", slider(1, 0), slider(1, 2), 2 / size},
		{"flat, camera follows", slider(1, 0), followed(slider(1, 2), 2), 0},
		{"flat, camera follows in part", slider(1, 0), followed(slider(1, 2), 1.5), 0.5 / size},
		{"robot, camera follows", bar(0, 0), followed(bar(0, 1), 2), 0},
		{"robot among numbered cells, camera follows", numbered(moved(bar(0, 0), 0)), followed(numbered(moved(bar(0, 0), 3)), 3), 1.5},
	} {
		t.Run(test.name, func(t *testing.T) { near(t, "place", compare(t, test.a, test.b).Place, test.want, 1e-9) })
	}
}

// moved is s further along x.
func moved(s stage, x float64) stage {
	place := s.place
	s.place = func(t float64, shape, k int) []float64 {
		at := place(t, shape, k)
		at[0] += x
		return at
	}
	return s
}

// Where another car is counts, seen from the agent; labels and the body's own place
// among the others do not.
func TestOthersAreSeenFromTheBody(t *testing.T) {
	traffic := func(speed, other float64) stage {
		s := slider(speed, 0)
		s.shapes = append(s.shapes, drawing.Shape{Kind: drawing.Circle, Paint: drawing.Other, Size: 1}, drawing.Shape{Kind: drawing.Text, Paint: drawing.Ink})
		car := s.place
		s.place = func(t float64, shape, k int) []float64 {
			switch shape {
			case 1:
				return []float64{other, 5}
			case 2:
				return []float64{100 * t, 0}
			}
			return car(t, shape, k)
		}
		return s
	}
	size := 2 * math.Sqrt2
	p := compare(t, traffic(0, 0), traffic(0, 1))
	near(t, "pose", p.Pose, 1/size/5, 1e-9) // one of five points is 1 off
	near(t, "motion", p.A.Motion().World, 0, 1e-9)
	near(t, "size", p.A.Size(), size, 1e-9)
}

func TestRules(t *testing.T) {
	creep := slider(0.3, 0) // 0.106 body sizes a second
	walk := slider(0.6, 0)  // 0.21
	run := slider(3, 0)     // 1.06
	whirl := bar(25, 0)     // 12.5
	type rules struct{ alike, easy, answerable, still, lively, whirling bool }
	for _, test := range []struct {
		name string
		a, b stage
		want rules // the last three of a
	}{
		{"two that creep", creep, creep, rules{alike: true, still: true}},
		{"two that creep apart", creep, slider(-0.3, 0), rules{still: true}}, // path 0.21
		{"one that walks, one that creeps", walk, creep, rules{alike: true}}, // path 0.106
		{"one that walks, one that creeps back", walk, slider(-0.3, 0), rules{answerable: true}},
		{"one runs", run, walk, rules{easy: true, answerable: true, lively: true}},
		{"whirling to the same end", whirl, bar(25+math.Pi, 0), rules{alike: true, whirling: true, lively: true}}, // a turn apart after 2 s
		{"whirling to another end", whirl, bar(25+math.Pi/4, 0), rules{easy: true, answerable: true, whirling: true, lively: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := compare(t, test.a, test.b)
			got := rules{p.Alike(), p.Easy(), p.Answerable(), p.A.Still(), p.A.Lively(), p.A.Whirling()}
			if got != test.want {
				t.Errorf("rules %+v, want %+v; pose %.3f, path %.3f, end %.3f, motion %v and %v", got, test.want, p.Pose, p.Path, p.End, p.A.Motion(), p.B.Motion())
			}
			back := compare(t, test.b, test.a)
			near(t, "pose the other way round", back.Pose, p.Pose, 1e-12)
			if back.Answerable() != p.Answerable() {
				t.Error("the order of the two matters")
			}
		})
	}
}

// Of still states only what they look like counts, for none of them moves.
func TestStates(t *testing.T) {
	state := func(x float64) stage { s := slider(0, x); s.sec = 0; return s }
	if p := compare(t, state(0), state(0)); p.Answerable() || !p.A.Moment() || p.A.Motion() != (Motion{}) {
		t.Error("the same state twice can be compared")
	}
	if p := compare(t, state(0), state(3)); !p.Answerable() || !p.Easy() {
		t.Error("two places cannot be compared")
	}
}

// Who stands on a map stands somewhere.
func TestStandingAtTwoPlaces(t *testing.T) {
	if p := compare(t, slider(0, 0), slider(0, 3)); !p.Answerable() {
		t.Error("two places of a map, where each stands, cannot be compared")
	}
	if p := compare(t, bar(0, 0), moved(bar(0, 0), 3)); p.Place != 1.5 || p.Answerable() {
		t.Errorf("two robots at rest, %v apart, can be compared", p.Place)
	}
}

// A pair of which both lie for most of the clip teaches nothing.
func TestFallen(t *testing.T) {
	for _, test := range []struct {
		a, b float64
		want bool
	}{{0, 0, true}, {1, 0.5, true}, {0.75, 1, false}} {
		a, b := slider(1, 0).film(), slider(3, 0).film()
		a.Header.Fallen, b.Header.Fallen = test.a, test.b
		p := must.Get(Compare(view(t, a), view(t, b)))(t)
		if p.Answerable() != test.want {
			t.Errorf("fallen for %v and %v: answerable %v, want %v", test.a, test.b, p.Answerable(), test.want)
		}
	}
}

func TestRepeats(t *testing.T) {
	a, b, c := view(t, slider(1, 0).film()), view(t, slider(2, 0).film()), view(t, slider(4, 0).film())
	for _, test := range []struct {
		name string
		q    [4]*View
		want bool
	}{
		{"itself", [4]*View{a, b, a, b}, true},
		{"sides swapped", [4]*View{a, b, b, a}, true},
		{"one clip is new", [4]*View{a, b, a, c}, false},
		{"a clip twice", [4]*View{a, b, a, a}, false},
	} {
		got, err := Repeats(test.q[0], test.q[1], test.q[2], test.q[3])
		if err != nil || got != test.want {
			t.Errorf("%s: %v, %v; want %v", test.name, got, err, test.want)
		}
	}
}

func TestWhatCannotBeMeasured(t *testing.T) {
	refused := func(name string, change func(c *clip.Clip)) {
		c := slider(1, 0).film()
		change(c)
		if _, err := New(c); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: %v, want an error of kind Invalid", name, err)
		}
	}
	refused("no frames", func(c *clip.Clip) { c.Frames = nil })
	refused("nothing moves", func(c *clip.Clip) { c.Header.Moving = nil })
	refused("a number that is none", func(c *clip.Clip) { c.Frames[50][3] = math.NaN() })
	refused("an infinite number", func(c *clip.Clip) { c.Frames[50][3] = math.Inf(1) })
	refused("no duration", func(c *clip.Clip) { c.Header.FrameSec = 0 })
	if _, err := Compare(view(t, slider(1, 0).film()), view(t, bar(1, 0).film())); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("two worlds: %v, want an error of kind Invalid", err)
	}
}

// A clip can be rated if something moves and the robot does not lie; a state always.
func TestRatable(t *testing.T) {
	still, lying, moment := slider(0.3, 0), slider(3, 0).film(), slider(0, 0)
	moment.sec = 0
	lying.Header.Fallen = 0.8
	for name, test := range map[string]struct {
		v    *View
		want bool
	}{
		"runs": {view(t, slider(3, 0).film()), true}, "creeps": {view(t, still.film()), false},
		"lies": {view(t, lying), false}, "a state": {view(t, moment.film()), true},
	} {
		if got := test.v.Ratable(); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// Clips begin together if their first states are the same.
func TestTogether(t *testing.T) {
	moment := slider(0, 0)
	moment.sec = 0
	for _, test := range []struct {
		name string
		a, b stage
		want bool
	}{
		{"two speeds", slider(1, 0), slider(3, 0), true},
		{"two places", slider(1, 0), slider(3, 1), false},
		{"two angles", bar(1, 0), bar(1, 0.3), false},
		{"two states", moment, moment, false},
	} {
		if got := compare(t, test.a, test.b).Together(); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	if got := view(t, slider(1, 0).film()).Seconds(); got != 2 {
		t.Errorf("a clip of %v s, want 2", got)
	}
	if got := view(t, moment.film()).Seconds(); got != 0 {
		t.Errorf("a state of %v s", got)
	}
}

// On a map it is seen where a clip ends: a car that is two sizes aside in the last frames has a path
// that differs by little in the mean, and is another one. In a solid scene the mean counts.
func TestEnds(t *testing.T) {
	late := slider(3, 0)
	late.place = func(t float64, shape, k int) []float64 {
		at := slider(3, 0).place(t, shape, k)
		if t > 1.93 {
			at[1] += 2 * 2 * math.Sqrt2
		}
		return at
	}
	p := compare(t, slider(3, 0), late)
	near(t, "path", p.Path, 2*2/41.0, 0.001) // two of the 41 frames that are compared
	near(t, "end", p.End, 2, 0.01)
	if p.Alike() || !p.Answerable() {
		t.Errorf("alike %v, answerable %v", p.Alike(), p.Answerable())
	}
	if is, err := Alike(p.A, p.B); err != nil || is {
		t.Errorf("for less: alike %v, %v", is, err)
	}
	p.A.solid, p.B.solid = true, true
	if !p.Alike() {
		t.Error("solid: not alike")
	}
}
