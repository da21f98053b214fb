package belief

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/stat/distuv"
)

// orderedOutcomes states the likelihood as its doc comment does.
func orderedOutcomes(o Ordered) []outcome {
	below := func(cut, u float64) float64 { return distuv.UnitNormal.CDF((cut - u) / o.NoiseStd) }
	out := []outcome{{equal, func(u float64) float64 { return below(o.Cuts[0], u) - below(-o.Cuts[0], u) }}}
	for k, lo := range o.Cuts {
		hi := math.Inf(1)
		if k+1 < len(o.Cuts) {
			hi = o.Cuts[k+1]
		}
		win := func(u float64) float64 { return below(hi, u) - below(lo, u) }
		out = append(out,
			outcome{idrl.Answer{Choice: idrl.ChoseA, Strength: k + 1}, win},
			outcome{idrl.Answer{Choice: idrl.ChoseB, Strength: k + 1}, func(u float64) float64 { return win(-u) }})
	}
	return out
}

func TestOrderedByQuadrature(t *testing.T) {
	for _, test := range []struct {
		o    Ordered
		m, v float64
	}{
		{Ordered{1, []float64{0.3}}, 0.4, 1},
		{Ordered{1, []float64{0.3, 1, 2.5}}, 0, 1},
		{Ordered{0.5, []float64{0.2, 1.5}}, -1.2, 4},
		{Ordered{2, []float64{0.5, 0.6}}, 3, 0.04},
	} {
		byQuadrature(t, fmt.Sprintf("%+v", test), test.o, orderedOutcomes(test.o), test.m, test.v)
	}
}

// A clip that is better by any strength is what Probit calls better, and the
// strengths divide it.
func TestOrderedRefinesTheProbit(t *testing.T) {
	p, o := Probit{NoiseStd: 0.7, TieBand: 0.3}, Ordered{NoiseStd: 0.7, Cuts: []float64{0.3, 1, 2}}
	for _, m := range []float64{-4, 0, 0.3, 2} {
		const v = 1.3
		for _, a := range []idrl.Answer{choseA, choseB, equal} {
			l0, l1, l2 := p.LogZ(a, m, v)
			o0, o1, o2 := o.LogZ(a, m, v)
			within(t, "log Z", o0, l0, 1e-13)
			within(t, "d1", o1, l1, 1e-13)
			within(t, "d2", o2, l2, 1e-13)
		}
		var sum float64
		for k := range o.Cuts {
			logZ, _, _ := o.LogZ(idrl.Answer{Choice: idrl.ChoseB, Strength: k + 1}, m, v)
			sum += math.Exp(logZ)
		}
		whole, _, _ := p.LogZ(choseB, m, v)
		within(t, "the strengths of b", sum, math.Exp(whole), 1e-13)
		if o.Info(m, v) <= p.Info(m, v) {
			t.Errorf("m=%v: strengths inform by %v, no more than %v without", m, o.Info(m, v), p.Info(m, v))
		}
	}
}

func TestOrderedValidate(t *testing.T) {
	if err := (Ordered{1, []float64{0.1, 2}}).Validate(); err != nil {
		t.Error(err)
	}
	for _, test := range []struct {
		o    Ordered
		want string
	}{
		{Ordered{0, []float64{1}}, "noise"},
		{Ordered{math.Inf(1), []float64{1}}, "noise"},
		{Ordered{1, nil}, "at least one cut"},
		{Ordered{1, []float64{0, 1}}, "increase"},
		{Ordered{1, []float64{1, 1}}, "increase"},
		{Ordered{1, []float64{1, math.NaN()}}, "increase"},
		{Ordered{1, []float64{1, math.Inf(1)}}, "increase"},
	} {
		if err := test.o.Validate(); idrl.KindOf(err) != idrl.Invalid || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want one of kind Invalid with %q", test.o, err, test.want)
		}
	}
}

// A strength moves the belief further the greater it is; one that there is not is
// refused.
func TestUpdateByStrength(t *testing.T) {
	m := Model{Start: Isotropic(2, 2), Comparison: Ordered{0.5, []float64{0.2, 1}}}
	last := 0.0
	for _, strength := range []int{1, 2} {
		p, err := m.Update(m.Prior(), comparison(1, -1), idrl.Answer{Choice: idrl.ChoseA, Strength: strength})
		if err != nil {
			t.Fatal(err)
		}
		if mean := p.Mean(nil); mean[0] <= last || mean[1] != -mean[0] {
			t.Errorf("strength %d: mean %v", strength, mean)
		} else {
			last = mean[0]
		}
	}
	for _, a := range []idrl.Answer{
		{Choice: idrl.ChoseA, Strength: 3},
		{Choice: idrl.ChoseB, Strength: -1},
		{Choice: idrl.Equal, Strength: 1},
	} {
		for _, l := range []idrl.Likelihood{m.Comparison, Lapse{m.Comparison, 0.1, 3}} {
			m := Model{Start: m.Start, Comparison: l}
			if _, err := m.Update(m.Prior(), comparison(1, -1), a); idrl.KindOf(err) != idrl.Invalid || err == nil {
				t.Errorf("%T, %s with strength %d: error %v, want one of kind Invalid", l, a.Choice, a.Strength, err)
			}
		}
	}
}
