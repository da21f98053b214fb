package agreement

import (
	"math"
	"math/rand/v2"
	"testing"

	"tiebreak/internal/base/rng"
)

// rated returns n units of two raters, each of whom is right with probability 0.9 about one of two
// categories. They agree with probability 0.82, where chance gives 0.5.
func rated(n int, stream *rand.Rand) Units {
	u := make(Units, n)
	for i := range u {
		truth := float64(stream.IntN(2))
		for r := range 2 {
			v := truth
			if stream.Float64() < 0.1 {
				v = 1 - truth
			}
			u[i] = append(u[i], Value{Rater: r, V: v})
		}
	}
	return u
}

// The intervals of the least number of draws, which those of the most units have, hold the truth in
// about 95 of 100 samples. How wide an interval is depends on the units and not on the draws, so
// fewer units do here.
func TestFewDrawsCover(t *testing.T) {
	if few, many := drawsOf(1_000_000), drawsOf(mostDraws); few != leastDraws || many != mostDraws {
		t.Fatalf("%d draws of a million units, %d of %d", few, many, mostDraws)
	}
	const trials, units = 400, 250
	for _, test := range []struct {
		name  string
		of    func(Units) (float64, bool)
		truth float64
	}{
		{"raw", Raw, 0.82},
		{"alpha", func(u Units) (float64, bool) { return Alpha(u, Nominal) }, 1 - 0.18/0.5},
	} {
		covered, below := 0, 0
		for k := range uint64(trials) {
			low, high, ok := bootstrap(rated(units, rng.New(1, "raters", k)), leastDraws, rng.New(2, "bootstrap", k), test.of)
			if !ok {
				t.Fatal("it is not defined")
			}
			if low <= test.truth && test.truth <= high {
				covered++
			} else if high < test.truth {
				below++
			}
		}
		// With 200 draws the ends are the 5th and the 195th: 94 % of all draws lie between them.
		share, tolerance := float64(covered)/trials, 3*math.Sqrt(0.94*0.06/trials)
		t.Logf("%s: %.3f of the intervals hold the truth, %d of %d lie below it", test.name, share, below, trials)
		if math.Abs(share-0.94) > tolerance {
			t.Errorf("%s: %.3f of the intervals hold the truth, want 0.94 ± %.3f", test.name, share, tolerance)
		}
	}
}

// Of few questions, and where all agree, the interval of raw agreement holds the truth in at least
// 95 of 100 samples, within three standard errors, and the other coefficients have none. The
// bootstrap alone held it in 60 of 100 samples of five questions, and said that all agree, without
// doubt, after any number of questions on which all agreed.
func TestIntervalsOfFewQuestions(t *testing.T) {
	const trials = 1000
	alpha := func(u Units) (float64, bool) { return Alpha(u, Nominal) }
	for _, n := range []int{5, 8, 20, LeastUnits - 1} {
		covered := 0
		for k := range uint64(trials) {
			u := rated(n, rng.New(3, "raters", k))
			if low, high, _ := RawInterval(u, rng.New(4, "bootstrap", k)); low <= 0.82 && 0.82 <= high {
				covered++
			}
			if _, _, ok := Bootstrap(u, rng.New(4, "bootstrap", k), alpha); ok {
				t.Fatalf("alpha over %d questions has an interval", n)
			}
		}
		if least := 0.95 - 3*math.Sqrt(0.95*0.05/trials); float64(covered) < least*trials {
			t.Errorf("%d of %d intervals of %d questions hold the truth, want at least %.0f", covered, trials, n, least*trials)
		}
	}
	covered, agreed := 0, 0 // with raters who agree in 98 of 100 questions
	for k := range uint64(trials) {
		stream := rng.New(5, "raters", k)
		u := make(Units, LeastUnits+10)
		for i := range u {
			u[i] = []Value{{Rater: 0, V: float64(i % 2)}, {Rater: 1, V: float64(i % 2)}}
			if stream.Float64() < 0.02 {
				u[i][1].V = 1 - u[i][0].V
			}
		}
		if share, _ := Raw(u); share == 1 {
			agreed++
			if _, _, ok := Bootstrap(u, rng.New(6, "bootstrap", k), alpha); ok {
				t.Fatal("alpha of raters who always agree has an interval")
			}
			if low, high, _ := RawInterval(u, rng.New(6, "bootstrap", k)); low <= 0.98 && 0.98 <= high {
				covered++
			}
		}
	}
	if agreed < trials/10 || covered != agreed {
		t.Errorf("%d of %d intervals of raters who always agreed hold the truth", covered, agreed)
	}
}
