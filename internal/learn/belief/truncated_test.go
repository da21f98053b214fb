package belief

import (
	"math"
	"testing"
)

// Reference values: 200-digit decimal arithmetic, by the series of Φ below 12
// and Laplace's continued fraction above.
func TestTruncated(t *testing.T) {
	inf := math.Inf(1)
	for _, test := range []struct{ lo, hi, logZ, mean, lost float64 }{
		{0, inf, -0.69314718055994530942, 0.79788456080286535588, 0.63661977236758134308},
		{-40, inf, 0, 1.4632702508383031787e-348, 5.8530810033532127149e-347},
		{-5, inf, -2.8665161296376359338e-7, 0.0000014867199409049057124, 0.0000074336019148607112465},
		{4.9, inf, -14.551182689355310834, 5.0898286001298832901, 0.96619503806369924777},
		{5.1, inf, -15.588487091871467542, 5.2832876169091573641, 0.96836119674894058539},
		{12, inf, -75.410673001568795939, 12.082214175254284330, 0.99332927366415413567},
		{40, inf, -804.60844201375378817, 40.024968847207263723, 0.99937733162140861123},
		{1000, inf, -500007.82669481218431, 1000.0009999980000100, 0.99999900000599995000},
		{-0.25, 0.25, -1.6224590640372049016, 0, 0.97933975894551789117},
		{-3, 3, -0.0027034470854759631542, 0, 0.026663075337458523412},
		{-20, 20, -5.5072482372124673902e-89, 0, 2.2083793448639052758e-86},
		{-0.5, 0.1, -1.4640816537673040140, -0.19407308042713427104, 0.97037930570983058966},
		{1, 1.000001, -15.234449591169071846, 1.0000004999999166666, 0.99999999999991666667},
		{0.001, 0.0010001, -17.037034684212994197, 0.0010000499999999991666, 0.99999999999999916667},
		{10, 10.5, -53.236969371752501624, 10.095268735313280992, 0.99195735546333228131},
		{30, 30.000001, -464.73446409113161351, 30.000000499997500000, 0.99999999999991666667},
		{999, 1000, -499008.32569431385372, 999.00100099899499903, 0.99999899800302000481},
		{-1000, 2, -0.023012909328963488465, -0.055247862678989959102, 0.11354805168857644979},
		{-8, 9, -6.2220891626777398999e-16, 5.0512431061797285394e-15, 4.0427420464509690996e-14},
		{2, 1e6, -3.7831843336820319488, 2.3732155328228408673, 0.88572089958591874336},
	} {
		got := interval(test.lo, test.hi)
		if math.IsInf(test.hi, 1) {
			near(t, "tail", tail(test.lo), test.lo, test.logZ, test.mean, test.lost)
			got = interval(test.lo, 1e300) // the two ways must agree
			test.hi = 1e300
		}
		near(t, "interval", got, test.lo, test.logZ, test.mean, test.lost)
		mirror := interval(-test.hi, -test.lo)
		mirror.mean = -mirror.mean
		near(t, "a mirrored interval", mirror, test.lo, test.logZ, test.mean, test.lost)
	}
}

// near checks got at a stated error relative to the larger of the value and
// 1e-3. The end points of the narrow rows are rounded, which moves their log Z
// by up to 1e-9.
func near(t *testing.T, what string, got truncated, lo, logZ, mean, lost float64) {
	t.Helper()
	for _, v := range []struct {
		name           string
		got, want, tol float64
	}{{"log Z", got.logZ, logZ, 1e-9}, {"mean", got.mean, mean, 1e-12}, {"lost variance", got.lost, lost, 1e-11}} {
		if !(math.Abs(v.got-v.want) <= v.tol*max(1e-3, math.Abs(v.want))) {
			t.Errorf("%s from %v: %s = %.17g, want %.17g", what, lo, v.name, v.got, v.want)
		}
	}
}

func TestTruncatedLimits(t *testing.T) {
	if got := interval(2, 2); !math.IsInf(got.logZ, -1) || got.mean != 2 || got.lost != 1 {
		t.Errorf("an empty interval at 2 = %+v, want probability 0, mean 2, no variance", got)
	}
	for x := -1e3; x <= 1e3; x += 0.37 {
		for _, got := range []truncated{tail(x), interval(x, x+1e-8), interval(x, x+0.5), interval(x, x+20)} {
			if !finite(got.logZ, got.mean, got.lost) || got.logZ > 0 || got.lost < 0 || got.lost > 1 {
				t.Fatalf("at %v: %+v", x, got)
			}
		}
	}
}
