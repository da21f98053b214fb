package measure_test

import (
	"math/rand/v2"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/measure"
)

// whim is a policy that draws an action for every stretch of time.
type whim struct {
	spec idrl.EnvSpec
	seed uint64
}

func (w whim) Act(dst idrl.Action, obs []float64, _ *rand.Rand) idrl.Action {
	return w.ActAt(dst, obs, 0, nil)
}

func (w whim) Params() []float64 { return nil }

func (w whim) ActAt(dst idrl.Action, _ []float64, t int, _ *rand.Rand) idrl.Action {
	stretch := rng.New(w.seed, "whim", uint64(t/max(1, w.spec.Actions.Hold)))
	if n := w.spec.Actions.Num; n > 0 {
		dst[0] = float64(stretch.IntN(n))
		return dst
	}
	for i, low := range w.spec.Actions.Low {
		dst[i] = low + (w.spec.Actions.High[i]-low)*stretch.Float64()
	}
	return dst
}

// In environments without physics, policies that choose at random: a car that drives
// always moves and every drive looks different; who walks between fields moves several
// body sizes a second or stands. Two clips of the latter can be compared unless they
// stand at one place, and so can states at two places.
func TestFlatScenes(t *testing.T) {
	for _, test := range []struct {
		id           string
		size         [2]float64 // least and most, world units
		motion, left float64    // least of the median, and of pairs that can be compared
	}{
		{"driver", [2]float64{0.2, 0.4}, 1, 0.99}, // a car is 0.23 long, and an arrow shows its speed
		{"gridworld", [2]float64{1, 1.3}, 2, 0.9},
		{"chain", [2]float64{1, 1.3}, 4, 0.9},
		{"junction", [2]float64{1, 1.3}, 4, 0.9},
	} {
		t.Run(test.id, func(t *testing.T) {
			env := environment(t, test.id)
			var views, states []*measure.View
			var motion []float64
			for k := range uint64(8) {
				tr := record(env, whim{env.Spec(), k}, k)
				views = append(views, cut(t, env, tr, rng.New(k, "places", 0))...)
				states = append(states, measured(t, env, idrl.Still(tr, int(3*k)%tr.Len())))
			}
			for _, v := range views {
				motion = append(motion, v.Motion().World)
				if v.Size() < test.size[0] || v.Size() > test.size[1] {
					t.Errorf("a body of size %v, want %v", v.Size(), test.size)
				}
			}
			if got := quantile(motion, 0.5); got < test.motion {
				t.Errorf("half of the clips move by less than %.2f body sizes a second, want %v", got, test.motion)
			}
			if got := sharesOf(t, views); got.left < test.left {
				t.Errorf("%+v of pairs, want %v left", got, test.left)
			}
			for i, a := range states {
				for _, b := range states[:i] {
					if p, err := measure.Compare(a, b); err != nil || p.Answerable() != !p.Alike() {
						t.Errorf("two states: alike %v, but answerable %v; %v", p.Alike(), p.Answerable(), err)
					}
				}
			}
			if p, err := measure.Compare(states[0], states[0]); err != nil || p.Answerable() {
				t.Errorf("a state can be compared with itself; %v", err)
			}
		})
	}
}
