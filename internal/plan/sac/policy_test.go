package sac_test

import (
	"math"
	"slices"
	"sync"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/sac"
)

func TestPolicyIsKept(t *testing.T) {
	for _, timed := range []bool{false, true} {
		s := small()
		s.Time = timed
		a := newAgent(t, sac.Config{Settings: s, Seed: 3})
		run(t, a, 260)
		for _, drawn := range []bool{false, true} {
			p := a.Policy(drawn)
			q := must.Get(sac.NewPolicy(pointmass.New(pointmass.Config{}).Spec(), slices.Clone(p.Params())))(t)
			x, y := make(idrl.Action, 1), make(idrl.Action, 1)
			same := true
			for k := range 50 {
				obs := []float64{float64(k) / 20, 0.3, 1}
				p.ActAt(x, obs, k, rng.New(1, "act", uint64(k)))
				q.ActAt(y, obs, k, rng.New(1, "act", uint64(k)))
				if x[0] != y[0] || !(math.Abs(x[0]) <= 1) {
					t.Fatalf("timed %v, drawn %v, step %d: %v and %v", timed, drawn, k, x, y)
				}
				q.ActAt(y, obs, k+10, rng.New(1, "act", uint64(k)))
				same = same && x[0] == y[0]
			}
			if same == timed {
				t.Errorf("timed %v: the time makes no difference: %v", timed, same)
			}
		}
	}
}

// TestPolicyIsImmutable holds that training does not change a policy that was taken
// before, and that several goroutines may use it.
func TestPolicyIsImmutable(t *testing.T) {
	a := newAgent(t, sac.Config{Settings: small(), Seed: 3})
	p := a.Policy(false)
	obs := []float64{0.1, 0.2, 1}
	want := p.Act(make(idrl.Action, 1), obs, nil)[0]
	run(t, a, 300)
	if a.Policy(false).Act(make(idrl.Action, 1), obs, nil)[0] == want {
		t.Error("60 updates change nothing")
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 100 {
				if got := p.Act(make(idrl.Action, 1), obs, nil)[0]; got != want {
					t.Errorf("action %v, want %v", got, want)
				}
			}
		})
	}
	all.Wait()
}

// TestActionBounds holds that actions span the bounds of the environment.
func TestActionBounds(t *testing.T) {
	spec := pointmass.New(pointmass.Config{}).Spec()
	spec.Actions = idrl.ActionSpec{Low: []float64{-3, 1}, High: []float64{5, 2}}
	const hidden = 1
	params := []float64{1, 0, 0, 1, hidden, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}
	means := params[len(params)-4:]
	for _, test := range []struct{ m, first, second float64 }{{-50, -3, 1}, {0, 1, 1.5}, {50, 5, 2}} {
		means[0], means[1] = test.m, test.m
		p := must.Get(sac.NewPolicy(spec, slices.Clone(params)))(t)
		if got := p.Act(make(idrl.Action, 2), []float64{1, 2, 3}, nil); got[0] != test.first || got[1] != test.second {
			t.Errorf("mean %v: action %v, want %v and %v", test.m, got, test.first, test.second)
		}
	}
}

func TestNewPolicyRefuses(t *testing.T) {
	spec := pointmass.New(pointmass.Config{}).Spec()
	good := newAgent(t, sac.Config{Settings: small()}).Policy(false).Params()
	for name, change := range map[string]func([]float64) []float64{
		"nothing":            func([]float64) []float64 { return nil },
		"another version":    func(p []float64) []float64 { p[0] = 2; return p },
		"half a layer":       func(p []float64) []float64 { p[4] = 31.5; return p },
		"a huge layer":       func(p []float64) []float64 { p[4] = 1e300; return p },
		"too many layers":    func(p []float64) []float64 { p[3] = 1e9; return p },
		"a missing weight":   func(p []float64) []float64 { return p[:len(p)-1] },
		"a weight of NaN":    func(p []float64) []float64 { p[50] = math.NaN(); return p },
		"an infinite weight": func(p []float64) []float64 { p[50] = math.Inf(1); return p },
		"a double":           func(p []float64) []float64 { p[50] = 0.1; return p },
		"a negative horizon": func(p []float64) []float64 { p[2] = -5; return p },
		"a linear policy":    func([]float64) []float64 { return []float64{0.5, 1, 2} },
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := sac.NewPolicy(spec, change(slices.Clone(good))); idrl.KindOf(err) != idrl.Invalid {
				t.Errorf("error %v, want one of kind Invalid", err)
			}
		})
	}
}
