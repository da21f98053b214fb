package seeing

import (
	"math"
	"strconv"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// film returns a clip of a robot with frames of 0.1 s, two seconds long. at gives the place
// of each point at some second.
func film(env string, points int, at func(sec float64, p int) [3]float64) *clip.Clip {
	c := &clip.Clip{Header: clip.Header{Env: env, Steps: 20, Sub: 1, Frames: 21, FrameSec: 0.1, Playback: 0.5, Distance: 9, Points: points, Unit: 1e-4, W: 4, H: 3}}
	for p := 1; p < points; p++ {
		c.Header.Moving = append(c.Header.Moving, clip.Shape{Kind: drawing.Ball, Paint: drawing.Agent, Size: 0.05, At: []int{p}})
	}
	for i := range 21 {
		var row []float64
		for p := range points {
			x := at(float64(i)/10, p)
			if env == "half-cheetah" && (p == 1 || p == 2) { // whose front is point 1
				x = at(float64(i)/10, 3-p)
			}
			row = append(row, x[:]...)
		}
		c.Frames = append(c.Frames, row)
	}
	return c
}

// rod returns the places of the ends, 1 and 2, of a rod of 1 m that goes along x at some speed
// with its middle at a height, tilted as tilt says: 0 is level with its front ahead.
func rod(speed, height float64, tilt func(sec float64) float64) func(float64, int) [3]float64 {
	return func(sec float64, p int) [3]float64 {
		side := float64(2*min(p, 2) - 3) // −1 of point 1, 1 of point 2
		a := tilt(sec)
		return [3]float64{speed*sec + side*math.Cos(a)/2, 0, height + side*math.Sin(a)/2}
	}
}

func constant(a float64) func(float64) float64 { return func(float64) float64 { return a } }

func worth(t *testing.T, env, taste string, c *clip.Clip) float64 {
	t.Helper()
	of := must.Get(Find(env, taste))(t)
	v := must.Get(of.Worth(c))(t)
	return v
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: worth %v, want %v", what, got, want)
	}
}

func TestTastesOfRods(t *testing.T) {
	level, onBack, standing := constant(0), constant(math.Pi), constant(math.Pi/2)
	turning := func(sec float64) float64 { return 2 * math.Pi * sec } // a turn backwards a second
	for _, c := range []struct {
		env, taste string
		c          *clip.Clip
		want       float64
	}{
		{"half-cheetah", "forward", film("half-cheetah", 17, rod(3, 0.5, level)), 3 + 1},
		{"half-cheetah", "forward", film("half-cheetah", 17, rod(3, 0.5, onBack)), 3},
		{"half-cheetah", "backward", film("half-cheetah", 17, rod(-2, 0.5, level)), 2 + 1},
		{"half-cheetah", "still", film("half-cheetah", 17, rod(0, 0.5, level)), 2},
		{"half-cheetah", "still", film("half-cheetah", 17, rod(3, 0.5, level)), 2 - 3},
		{"half-cheetah", "limp", film("half-cheetah", 17, rod(1, 0.3, level)), 1}, // the foot is as high as the trunk
		{"half-cheetah", "limp", film("half-cheetah", 17, rod(1, 0.1, level)), 0},
		{"half-cheetah", "limp", film("half-cheetah", 17, rod(1, 0.3, onBack)), 0},
		{"half-cheetah", "backflip", film("half-cheetah", 17, rod(0, 1, turning)), 1},
		{"half-cheetah", "backflip", film("half-cheetah", 17, rod(0, 1, func(s float64) float64 { return -turning(s) })), -1},
		{"hopper", "forward", film("hopper", 7, rod(1.5, 1.1, standing)), 1.5 + 2},
		{"hopper", "forward", film("hopper", 7, rod(1.5, 0.4, standing)), 1.5}, // sunk
		{"hopper", "forward", film("hopper", 7, rod(1.5, 1.1, level)), 1.5},    // lies in the air
		{"hopper", "backflip", film("hopper", 7, rod(0, 1.1, turning)), 1},
		{"walker2d", "forward", film("walker2d", 9, rod(1, 1.1, standing)), 1 + 2},
	} {
		near(t, c.env+" "+c.taste, worth(t, c.env, c.taste, c.c), c.want)
	}
}

// A pole stands on a cart at point 4, with its tip at point 3; of two poles the tip is 5.
func TestTasteOfPendulums(t *testing.T) {
	pole := func(long float64, tip int, tilt func(sec float64) float64) func(float64, int) [3]float64 {
		return func(sec float64, p int) [3]float64 {
			a := tilt(sec)
			if p == tip {
				return [3]float64{long * math.Sin(a), 0, long * math.Cos(a)}
			}
			return [3]float64{}
		}
	}
	quarter := func(sec float64) float64 { return math.Pi / 4 * sec } // a quarter of a turn in two seconds: upright in the first
	near(t, "one up", worth(t, "inverted-pendulum", "", film("inverted-pendulum", 5, pole(0.6, 3, constant(0.1)))), 2)
	near(t, "one hangs", worth(t, "inverted-pendulum", "", film("inverted-pendulum", 5, pole(0.6, 3, constant(3)))), 0)
	way := 0.6 * 2 * math.Sin(math.Pi/80) * 20 / 2 // of the tip, by chords, m/s
	near(t, "one falls", worth(t, "inverted-pendulum", "", film("inverted-pendulum", 5, pole(0.6, 3, quarter))), 2*11.0/21-way)
	near(t, "two up", worth(t, "inverted-double-pendulum", "", film("inverted-double-pendulum", 6, pole(1.2, 5, constant(0.1)))), 2)
	near(t, "two folded", worth(t, "inverted-double-pendulum", "", film("inverted-double-pendulum", 6, pole(0.5, 5, constant(0)))), 0)
}

// An ant's trunk is upright while its hips go round counterclockwise, seen from above.
func TestTasteOfAnts(t *testing.T) {
	hips := []int{2, 5, 8, 11}
	trunk := func(speed, sign float64) func(float64, int) [3]float64 {
		return func(sec float64, p int) [3]float64 {
			for k, h := range hips {
				if p == h {
					a := math.Pi/4 + float64(k)*math.Pi/2
					return [3]float64{speed*sec + 0.3*math.Cos(a), sign * 0.3 * math.Sin(a), 0.6}
				}
			}
			return [3]float64{speed * sec, 0, 0.6}
		}
	}
	near(t, "upright", worth(t, "ant", "forward", film("ant", 15, trunk(0.5, 1))), 2*0.5+1)
	near(t, "on its back", worth(t, "ant", "forward", film("ant", 15, trunk(0.5, -1))), 2*0.5)
	near(t, "backward", worth(t, "ant", "backward", film("ant", 15, trunk(-0.5, 1))), 2*0.5+1)
}

func TestTasteOfReachers(t *testing.T) {
	at := func(away float64) func(float64, int) [3]float64 {
		return func(sec float64, p int) [3]float64 {
			if p == 4 && sec >= 1 { // the tip is far off before
				return [3]float64{0.05 + away, 0, 0}
			}
			if p == 5 {
				return [3]float64{0.05, 0, 0}
			}
			return [3]float64{-0.2, 0, 0}
		}
	}
	near(t, "there", worth(t, "reacher", "", film("reacher", 7, at(0))), 0)
	near(t, "0.1 m away", worth(t, "reacher", "", film("reacher", 7, at(0.1))), -0.1/0.21)
}

// The goal of a corridor is the middle one of the numbers on its ground.
func TestTasteOfCorridors(t *testing.T) {
	c := film("swimmer-corridor", 5, func(sec float64, _ int) [3]float64 { return [3]float64{30 - 2*sec, 0, 0} })
	for n := range 13 {
		c.Header.Static = append(c.Header.Static, clip.Shape{Kind: drawing.Text, Text: strconv.Itoa(n + 1), Pts: []float64{3 * float64(n), -1, 0}})
	}
	near(t, "from beyond the goal", worth(t, "swimmer-corridor", "goal", c), 2)
}

func TestWrongTastes(t *testing.T) {
	level := film("half-cheetah", 17, rod(1, 0.5, constant(0)))
	taste, err := Find("hopper", "")
	if err != nil || taste.Name != "forward" {
		t.Fatalf("the first taste about hopper: %q, %v", taste.Name, err)
	}
	still := film("hopper", 7, rod(1, 0.5, constant(0)))
	still.Header.Steps, still.Header.Frames, still.Frames = 0, 1, still.Frames[:1]
	other := film("hopper", 2, rod(1, 0.5, constant(0)))
	for what, c := range map[string]*clip.Clip{"another robot": level, "a still": still, "another drawing": other} {
		if _, err := taste.Worth(c); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error %v, want an invalid one", what, err)
		}
	}
	for _, of := range [][2]string{{"own-robot", ""}, {"hopper", "sideways"}} {
		if _, err := Find(of[0], of[1]); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("a taste %q about %s: error %v, want an invalid one", of[1], of[0], err)
		}
	}
}

// A person answers by worth, calls equal what differs by little, and is wrong as often as
// asked for.
func TestPerson(t *testing.T) {
	running := func(speed float64) *clip.Clip { return film("half-cheetah", 17, rod(speed, 0.5, constant(0))) }
	taste, _ := Find("half-cheetah", "forward")
	sure := Person{Taste: taste}
	for _, c := range []struct {
		a, b float64
		want idrl.Choice
	}{{2, 1, idrl.ChoseA}, {1, 2, idrl.ChoseB}, {1, 1.05, idrl.Equal}} {
		got, err := sure.Compare(0, running(c.a), running(c.b))
		if err != nil || got.Choice != c.want {
			t.Errorf("speeds %v and %v: %v, %v; want %v", c.a, c.b, got.Choice, err, c.want)
		}
	}
	unsure, wrong := Person{Taste: taste, Mistake: 0.1, Seed: 7}, 0
	const n = 2000
	a, b := running(2), running(1)
	for k := range n {
		got := must.Get(unsure.Compare(k, a, b))(t)
		if got.Choice == idrl.ChoseB {
			wrong++
		}
	}
	if share := float64(wrong) / n; math.Abs(share-0.1) > 4*math.Sqrt(0.1*0.9/n) {
		t.Errorf("wrong in %v of the answers, want 0.1", share)
	}
	if _, err := sure.Compare(0, a, film("hopper", 7, rod(1, 1, constant(0)))); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("a clip of another robot: error %v, want an invalid one", err)
	}
}
