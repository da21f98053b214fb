package belief

import (
	"fmt"
	"math"
	"testing"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats/scalar"
)

// logisticOutcomes states the likelihood as its doc comment does.
func logisticOutcomes(b BradleyTerry) []outcome {
	sigma := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	win := func(u float64) float64 { return sigma(b.Beta * (u - b.TieWidth)) }
	lose := func(u float64) float64 { return sigma(b.Beta * (-u - b.TieWidth)) }
	out := []outcome{{choseA, win}, {choseB, lose}}
	if b.TieWidth > 0 {
		out = append(out, outcome{equal, func(u float64) float64 { return math.Expm1(2*b.Beta*b.TieWidth) * win(u) * lose(u) }})
	}
	return out
}

// β√v from 0.01 to 90: everything against a rule of its own.
func TestBradleyTerryByQuadrature(t *testing.T) {
	for _, test := range []struct{ beta, width, m, v float64 }{
		{1, 0, 0, 1},
		{0.1, 0.3, 0.2, 0.01},
		{1, 0.25, -2, 1},
		{1.6, 1, 0.5, 4},
		{5, 0.1, 1.3, 4},
		{30, 0, -0.4, 1},
		{30, 0.2, 1.7, 1},
		{30, 2, 0.3, 1},
		{10, 0.05, -9, 9},
		{3, 1.5, 4, 25},
		{90, 0.01, 0.1, 1},
		{2.99, 0.2, 0.7, 1}, // where one rule ends
		{3.01, 0.2, 0.7, 1}, // and the other begins
		{0.37, 0, -3, 1},
	} {
		b := BradleyTerry{Beta: test.beta, TieWidth: test.width}
		byQuadrature(t, fmt.Sprintf("%+v", test), b, logisticOutcomes(b), test.m, test.v)
	}
}

// Where σ(x) is exp(x) over all that counts, log Z = βm − δ + β²v/2: a long way
// below the middle, beyond the reach of any sum on a fixed grid.
func TestBradleyTerryExponentialTail(t *testing.T) {
	for _, s := range []float64{0.01, 0.5, 1, 1.01, 3, 30, 300} { // β√v
		const beta, width = 2.0, 0.3
		v := s * s / (beta * beta)
		m := -(s*s + 12*s + 45) / beta
		logZ, d1, d2 := BradleyTerry{beta, width}.LogZ(choseA, m, v)
		want := beta*(m-width) + s*s/2
		if !scalar.EqualWithinRel(logZ, want, 1e-12) || !scalar.EqualWithinRel(d1, beta, 1e-12) || -d2*v > 1e-12 {
			t.Errorf("β√v=%v: log Z %v, d1 %v, d2 %v; want %v, %v, 0", s, logZ, d1, d2, want, beta)
		}
		bLogZ, bd1, bd2 := BradleyTerry{beta, width}.LogZ(choseB, -m, v)
		if !scalar.EqualWithinRel(bLogZ, logZ, 1e-12) || !scalar.EqualWithinRel(bd1, -d1, 1e-12) || math.Abs(bd2-d2)*v > 1e-9 {
			t.Errorf("β√v=%v: b is not the mirror image of a", s)
		}
	}
}

// Without uncertainty it is the logistic itself; at m = 0 its information is the
// Fisher information β²/4.
func TestBradleyTerryWithoutUncertainty(t *testing.T) {
	const beta, width = 1.7, 0.4
	for _, m := range []float64{-5, -0.4, 0, 0.4, 3} {
		x := beta * (m - width)
		p := 1 / (1 + math.Exp(-x))
		logZ, d1, d2 := BradleyTerry{beta, width}.LogZ(choseA, m, 0)
		within(t, "log Z", logZ, math.Log(p), 1e-13)
		within(t, "d1", d1, beta*(1-p), 1e-13)
		within(t, "d2", d2, -beta*beta*p*(1-p), 1e-13)
	}
	within(t, "info at 0", BradleyTerry{Beta: beta}.Info(0, 0), beta*beta/4, 1e-13)
}

// A logistic much steeper than the belief is wide cuts it off at TieWidth, as the
// probit without noise does.
func TestBradleyTerryStep(t *testing.T) {
	for _, z := range []float64{-6, -1, 0, 2, 7} {
		const r, width = 3.0, 0.6
		for _, beta := range []float64{1e7, 1e12, 1e300} {
			name := fmt.Sprintf("β=%v m=%v", beta, z*r)
			logZ, d1, d2 := BradleyTerry{beta, width}.LogZ(choseA, z*r, r*r)
			want := tail(width/r - z)
			within(t, name+" log Z", logZ, want.logZ, 1e-8)
			within(t, name+" d1", d1, want.mean/r, 1e-8)
			within(t, name+" d2", d2, -want.lost/(r*r), 1e-8)
			logZ, d1, d2 = BradleyTerry{beta, width}.LogZ(equal, z*r, r*r)
			want = interval(-width/r-z, width/r-z)
			within(t, name+" log Z of equal", logZ, want.logZ, 1e-8)
			within(t, name+" d1 of equal", d1, want.mean/r, 1e-8)
			within(t, name+" d2 of equal", d2, -want.lost/(r*r), 1e-8)
		}
	}
}

// 'equal' where it has no width is the limit of a narrow one.
func TestBradleyTerryEqualWithoutWidth(t *testing.T) {
	logZ, d1, d2 := BradleyTerry{Beta: 2}.LogZ(equal, 0.7, 0.5)
	_, w1, w2 := BradleyTerry{Beta: 2, TieWidth: 1e-9}.LogZ(equal, 0.7, 0.5)
	if !math.IsInf(logZ, -1) {
		t.Errorf("log Z = %v, want probability 0", logZ)
	}
	within(t, "d1", d1, w1, 1e-8)
	within(t, "d2", d2, w2, 1e-8)
}

// MacKay: within 0.02 in probability of the probit with s = √(8/π)/β, at any
// variance. Source: docs/methods.md, section 2.1.
func TestBradleyTerryIsNearTheProbit(t *testing.T) {
	for _, std := range []float64{0.1, 0.5, 3} {
		b, p := BradleyTerry{slope / std, 0.2}, Probit{std, 0.2}
		for m := -5.0; m <= 5; m += 0.25 {
			for _, v := range []float64{0, 0.1, 1, 10} {
				x, _, _ := b.LogZ(choseA, m, v)
				y, _, _ := p.LogZ(choseA, m, v)
				within(t, fmt.Sprintf("P(a) at s=%v m=%v v=%v", std, m, v), math.Exp(x), math.Exp(y), 0.02)
			}
		}
	}
}

// Far out nothing overflows, and the variance of u stays positive.
func TestBradleyTerryTails(t *testing.T) {
	for _, b := range []BradleyTerry{{1, 0}, {1, 0.25}, {1e-6, 1}, {1e4, 1e-3}, {1, 500}, {1e100, 0}} {
		for _, v := range []float64{0, 1e-9, 1, 1e6, 1e100} {
			for _, z := range []float64{-1e6, -1e3, -40, -9, 0, 3, 40, 1e3} {
				m := z * max(math.Sqrt(v), 1/b.Beta)
				for _, a := range []idrl.Answer{choseA, choseB, equal} {
					logZ, d1, d2 := b.LogZ(a, m, v)
					if b.TieWidth == 0 && a == equal {
						logZ = 0 // has probability 0
					}
					if !finite(logZ, d1, d2) || d2 > 0 || 1+v*d2 < 0 {
						t.Errorf("%+v v=%v z=%v %s: log Z %v, d1 %v, d2 %v", b, v, z, a.Choice, logZ, d1, d2)
					}
				}
				if w := b.Info(m, v); !(w >= 0 && w*v <= 1+1e-9) {
					t.Errorf("%+v v=%v z=%v: info %v", b, v, z, w)
				}
			}
		}
	}
}
