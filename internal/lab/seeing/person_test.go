package seeing

import (
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/measure"
)

func running(speed float64) *clip.Clip {
	return film("half-cheetah", 17, rod(speed, 0.5, constant(0)))
}

// rocking is a rod that stays where it is and is up in the middle by some way: two of them
// differ by their poses alone.
func rocking(up float64) *clip.Clip {
	return film("half-cheetah", 17, func(sec float64, p int) [3]float64 {
		at := rod(0, 0.5+0.2*math.Sin(math.Pi*sec), constant(0))(sec, p)
		if p > 2 { // most points
			at[2] += up
		}
		return at
	})
}

func answer(t *testing.T, p Person, n uint64, clips ...*clip.Clip) Reply {
	t.Helper()
	r := must.Get(p.Answer("q", n, clips...))(t)
	return r
}

// What differs at a glance is answered by its worth, quickly; what cannot be judged is not.
func TestWhoSees(t *testing.T) {
	taste, _ := Find("half-cheetah", "forward")
	p := Person{Taste: taste, Seed: 3, Threshold: DefaultThreshold}
	lying := running(2)
	lying.Header.Fallen = 1
	fallen := running(-2)
	fallen.Header.Fallen = 1
	for _, test := range []struct {
		name string
		a, b *clip.Clip
		want idrl.Choice
		hard [2]float64
	}{
		{"faster", running(2), running(0.5), idrl.ChoseA, [2]float64{0, 0.01}},
		{"slower", running(-1), running(2), idrl.ChoseB, [2]float64{0, 0.01}},
		{"the same clip", running(1), running(1), idrl.CantTell, [2]float64{1, 1}},
		{"nothing moves", running(0), film("half-cheetah", 17, rod(0, 1.5, constant(math.Pi))), idrl.CantTell, [2]float64{1, 1}},
		{"both are fallen", lying, fallen, idrl.CantTell, [2]float64{1, 1}},
		{"one is fallen", running(0.5), lying, idrl.ChoseB, [2]float64{0, 0.01}},
		{"different, of one worth", running(2), film("half-cheetah", 17, rod(2, 2.5, constant(0))), idrl.Equal, [2]float64{0.99, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := answer(t, p, 0, test.a, test.b)
			if r.Choice != test.want || r.Hard < test.hard[0] || r.Hard > test.hard[1] {
				t.Errorf("%v, hard %v; want %v, %v", r.Choice, r.Hard, test.want, test.hard)
			}
			if again := answer(t, p, 0, test.a, test.b); again != r {
				t.Errorf("the second time %+v, and %+v before", again, r)
			}
		})
	}
	if _, err := p.Answer("q", 0, running(1), film("hopper", 7, rod(1, 1, constant(0)))); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("a clip of another robot: error %v, want an invalid one", err)
	}
	blind := Person{Taste: taste, Seed: 3} // without a threshold all is seen
	if r := answer(t, blind, 0, running(0.3), running(0.1)); r.Choice != idrl.ChoseA {
		t.Errorf("a small difference: %v", r.Choice)
	}
}

// At the threshold half of the differences are seen; what is not seen is equal or cannot be
// told, each in half of the cases.
func TestThreshold(t *testing.T) {
	taste, _ := Find("half-cheetah", "still")
	taste.Equal = 0.01
	taste.worth = func(c *clip.Clip) (float64, error) { return c.Frames[0][3*5+2], nil } // how high most points are
	a, b := rocking(0), rocking(0.1)
	pair, err := look(a, b)
	if err != nil || pair.Alike() || pair.Easy() {
		t.Fatalf("a pair to test with: pose %v, path %v, %v", pair.Pose, pair.Path, err)
	}
	p := Person{Taste: taste, Seed: 5, Threshold: Contrast(pair, false)}
	const n = 2000
	var share [3]float64 // seen, equal, can't tell
	for k := range uint64(n) {
		switch r := answer(t, p, k, a, b); r.Choice {
		case idrl.ChoseB:
			share[0] += 1. / n
		case idrl.Equal:
			share[1] += 1. / n
		case idrl.CantTell:
			share[2] += 1. / n
		default:
			t.Fatalf("answer %v", r.Choice)
		}
	}
	for i, want := range []float64{0.5, 0.25, 0.25} {
		if math.Abs(share[i]-want) > 4*math.Sqrt(want*(1-want)/n) {
			t.Errorf("shares %v, want ½, ¼ and ¼", share)
		}
	}
	p.Mistake = 1
	p.Threshold = 0.1
	if r := answer(t, p, 0, a, b); r.Choice != idrl.ChoseA {
		t.Errorf("somebody who is always wrong: %v", r.Choice)
	}
}

// Contrast is 1 where clips cease to look alike and 2 where they differ at a glance, and grows.
func TestContrast(t *testing.T) {
	a := must.Get(measure.New(running(1)))(t)
	for _, test := range []struct {
		pair  measure.Pair
		onMap bool
		want  float64
	}{
		{measure.Pair{A: a, B: a}, false, 0},
		{measure.Pair{A: a, B: a, Pose: measure.AlikePose / 2}, false, 0.5},
		{measure.Pair{A: a, B: a, Pose: measure.AlikePose}, true, 1},
		{measure.Pair{A: a, B: a, Path: measure.EasyPath}, false, 2},
		{measure.Pair{A: a, B: a, Place: measure.EasyPlace, Pose: 0.01}, false, 2},
		{measure.Pair{A: a, B: a, Path: 3 * measure.EasyPath}, true, 6},
		{measure.Pair{A: a, B: a, End: 2}, false, 0}, // which counts where nothing can be followed,
		{measure.Pair{A: a, B: a, End: 2}, true, 8},  // and on a map
	} {
		if got := Contrast(test.pair, test.onMap); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%+v: %v, want %v", test.pair, got, test.want)
		}
	}
	last := 0.0
	for v := 0.0; v < 1; v += 0.001 {
		got := Contrast(measure.Pair{A: a, B: a, Pose: v}, false)
		if got < last {
			t.Fatalf("it falls at %v", v)
		}
		last = got
	}
}

// Ratings are on the page's scale between the least and the highest worth.
func TestRatings(t *testing.T) {
	taste, _ := Find("half-cheetah", "forward") // speed + 1, from −2 to 6
	p := Person{Taste: taste, Threshold: DefaultThreshold}
	for _, test := range []struct {
		speed  float64
		rating float64
	}{{9, 1}, {5, 1}, {1, 0}, {2, 0.2}, {1.1, 0}, {-3, -1}, {-9, -1}} {
		if r := answer(t, p, 0, running(test.speed)); r.Choice != idrl.Rated || math.Abs(r.Rating-test.rating) > 1e-12 {
			t.Errorf("at %v m/s: %v %v, want %v", test.speed, r.Choice, r.Rating, test.rating)
		}
	}
	if r := answer(t, p, 0, running(0)); r.Choice != idrl.CantTell || r.Hard != 1 {
		t.Errorf("of what does not move: %+v", r)
	}
	p.Mistake = 1
	if r := answer(t, p, 0, running(9)); r.Rating != -1 {
		t.Errorf("a mistake: %v", r.Rating)
	}
}
