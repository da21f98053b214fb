package seeing

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"

	"gonum.org/v1/gonum/mat"
)

func environment(t *testing.T, id string) idrl.Environment {
	t.Helper()
	entry := must.Get(envs.Catalogue().Find(id))(t)
	return entry.New(rng.New(5, "layout", 0))
}

// drawn returns a clip as a page gets it.
func drawn(t *testing.T, env idrl.Environment, c idrl.Clip) *clip.Clip {
	t.Helper()
	b := must.Get(clip.Encode(env, c))(t)
	out := must.Get(clip.Decode(b))(t)
	return out
}

// Of every field the worth is that of its label, which the features name.
func TestTastesOfFields(t *testing.T) {
	letter := func(name string) float64 {
		return byLetter(strings.TrimPrefix(name, "Object ")) // "Floor" is none
	}
	for _, test := range []struct {
		env  string
		want func(name string, s int) float64
	}{
		{"gridworld", func(name string, _ int) float64 { return letter(name) }},
		{"gridworld-code", func(name string, _ int) float64 { return letter(name) }},
		{"chain", func(_ string, s int) float64 { return float64(s+1) / 20 }},
		{"junction", func(name string, _ int) float64 {
			return map[byte]float64{'A': 1, 'B': -1}[strings.TrimPrefix(name, "Field ")[0]]
		}},
	} {
		t.Run(test.env, func(t *testing.T) {
			env := environment(t, test.env)
			tabular, spec := env.(idrl.Tabular), env.Spec()
			n := tabular.NumStates()
			phi := mat.NewDense(n, spec.FeatureDim(), nil)
			tabular.Features(phi)
			high := 0
			for s := range n {
				name := ""
				for k, label := range spec.FeatureNames {
					if phi.At(s, k) == 1 {
						name = label
					}
				}
				still := idrl.NewStill(spec.ID, "t", 0, []float64{float64(s), 1}, mat.Row(nil, s, phi))
				got := worth(t, test.env, "", drawn(t, env, still))
				near(t, name, got, test.want(name, s))
				if got > 0 {
					high++
				}
			}
			if high == 0 {
				t.Error("no field is worth anything")
			}
		})
	}
}

// A clip is worth the mean of its states.
func TestWorthOfAWalk(t *testing.T) {
	env := environment(t, "chain")
	c := idrl.Clip{Steps: 3, Phi: make([]float64, 20), Snapshots: [][]float64{{3, 0}, {4, 1}, {5, 2}, {6, 3}}}
	near(t, "fields 4 to 7", worth(t, "chain", "high", drawn(t, env, c)), 5.5/20)
}

// steer is a policy that turns and accelerates by stretches of ten steps.
type steer [][2]float64

func (s steer) Act(dst idrl.Action, obs []float64, _ *rand.Rand) idrl.Action {
	return append(dst[:0], s[min(len(s)-1, int(obs[8]*50+0.5)/10)][:]...)
}

func (s steer) Params() []float64 { return nil }

// What is seen of drives is what the states say: y and x of the car, and how near its middle
// comes to that of the other car, which is as large.
func TestTasteOfDrives(t *testing.T) {
	const diagonal = 0.258
	env := environment(t, "driver")
	for _, test := range []struct {
		name      string
		p         steer
		far, road bool // further than 2, always on the road
		hit       bool
	}{
		{"fast", steer{{0, 0.7}}, true, true, true}, // the other car changes into this lane
		{"straight and slow", steer{{0, 0.1}}, false, true, false},
		{"off to the left", steer{{1, 1}}, false, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var states [][]float64
			nearest, on, deep := math.Inf(1), 0.0, false
			for _, step := range idrl.EpisodeOf(env, test.p, rng.New(1, "episode", 0)) {
				states = append(states, env.(idrl.Snapshotter).Snapshot(nil))
				dx, dy := math.Abs(step.Obs[0]-step.Obs[4]), math.Abs(step.Obs[1]-step.Obs[5])
				nearest, deep = min(nearest, math.Hypot(dx, dy)), deep || dx < 0.09 && dy < 0.18 // of 0.115 and 0.23
				if math.Abs(step.Obs[0]) <= 0.295 {
					on++
				}
			}
			if test.hit && !deep || !test.hit && nearest < diagonal {
				t.Fatalf("the middles of the cars are %v apart at least, which does not say whether they touch", nearest)
			}
			c := drawn(t, env, idrl.Clip{Steps: len(states) - 1, Phi: make([]float64, 5), Snapshots: states})
			got := must.Get(watchRoad(c))(t)
			first, last := states[0], states[len(states)-1]
			want := traffic{(last[1] - first[1]) / 5, on / float64(len(states)), test.hit}
			if math.Abs(got.ahead-want.ahead) > 0.01 || math.Abs(got.road-want.road) > 0.03 || got.hit != want.hit {
				t.Errorf("seen %+v, want %+v", got, want)
			}
			if (got.ahead*5 > 2) != test.far || (got.road == 1) != test.road {
				t.Errorf("seen %+v: another drive than the one meant", got)
			}
			v := got.ahead + got.road
			if test.hit {
				v--
			}
			near(t, test.name, worth(t, "driver", "far", c), v)
		})
	}
	for _, speed := range []float64{-0.6, 0, 0.8} { // of stills, by the arrow
		still := idrl.NewStill("driver", "t", 0, []float64{0, -0.3, math.Pi / 2, speed, 0}, make([]float64, 5))
		got, err := watchRoad(drawn(t, env, still))
		if err != nil || math.Abs(got.ahead-speed) > 0.06 {
			t.Errorf("a still at speed %v: %v, %v", speed, got.ahead, err)
		}
	}
}

func TestOverlap(t *testing.T) {
	square := func(x, y, r float64, turned bool) [][2]float64 {
		if turned {
			return [][2]float64{{x - r, y}, {x, y + r}, {x + r, y}, {x, y - r}} // clockwise
		}
		return [][2]float64{{x - r, y - r}, {x + r, y - r}, {x + r, y + r}, {x - r, y + r}}
	}
	for _, test := range []struct {
		name string
		a, b [][2]float64
		want bool
	}{
		{"within", square(0, 0, 2, false), square(0, 0, 1, true), true},
		{"a corner", square(0, 0, 1, false), square(1.9, 0, 1, true), true},
		{"beside", square(0, 0, 1, false), square(2.1, 0, 1, true), false},
		{"across the corner", square(0, 0, 1, false), square(1.6, 1.6, 1, true), false}, // boxes around them overlap
	} {
		if got := overlap(test.a, test.b); got != test.want || overlap(test.b, test.a) != got {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// Every environment of the catalogue has a taste, whose scale of ratings goes up.
func TestTastesOfAll(t *testing.T) {
	list := envs.Catalogue()
	if len(Environments()) != len(list) {
		t.Errorf("tastes about %q", Environments())
	}
	for _, e := range list {
		taste, err := Find(e.ID, "")
		if err != nil || !(taste.Low < taste.High) || !(taste.Equal > 0) {
			t.Errorf("%s: %+v, %v", e.ID, taste, err)
		}
	}
}
