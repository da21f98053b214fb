package measure_test

import (
	"testing"

	"tiebreak/envs"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/measure"
)

// views returns clips of an environment by random policies, some of which begin alike, and
// some states.
func views(t testing.TB, id string, policies uint64) (out []*measure.View) {
	env := environment(t, id)
	for k := range policies {
		tr := record(env, whim{env.Spec(), k}, k/2)
		out = append(out, cut(t, env, tr, rng.New(k, "places", 0))...)
		out = append(out, measured(t, env, idrl.Still(tr, int(3*k)%tr.Len())))
	}
	return out
}

// What costs less says the same.
func TestCheapRules(t *testing.T) {
	alike, all := 0, 0
	for _, e := range envs.Catalogue() {
		if e.Unavailable != nil { // the machine has no MuJoCo
			continue
		}
		list := views(t, e.ID, 3)
		for i, a := range list {
			for _, b := range list[:i+1] {
				p, err := measure.Compare(a, b)
				if err != nil {
					t.Fatal(err)
				}
				is, err := measure.Alike(a, b)
				if err != nil || is != p.Alike() {
					t.Errorf("%s: alike %v, by all measures %v; %v", e.ID, is, p.Alike(), err)
				}
				can, err := measure.Answerable(a, b)
				if err != nil || can != p.Answerable() {
					t.Errorf("%s: answerable %v, by all measures %v; %v", e.ID, can, p.Answerable(), err)
				}
				if apart := p.Apart(); apart < 0 || apart > 6 || p.Easy() && apart < 1 {
					t.Errorf("%s: %v apart, and easy %v: pages say that the range is 0 to 6, and below 1 nothing differs at a glance", e.ID, apart, p.Easy())
				}
				if all++; is {
					alike++
				}
			}
		}
	}
	if alike < 50 || alike > all/2 {
		t.Errorf("%d of %d pairs are alike: this test tells little apart", alike, all)
	}
}

// BenchmarkAlike measures the time of one test of likeness.
func BenchmarkAlike(b *testing.B) {
	for _, id := range []string{"driver", "gridworld", "half-cheetah", "ant", "hopper", "swimmer", "reacher"} {
		b.Run(id, func(b *testing.B) {
			list := views(b, id, 10)
			for k := 0; b.Loop(); k++ {
				must.Get(measure.Alike(list[k%len(list)], list[(k/len(list))%len(list)]))(b)
			}
		})
	}
}
