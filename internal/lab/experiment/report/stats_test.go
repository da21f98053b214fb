package report_test

import (
	"math"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/lab/experiment/report"

	"gonum.org/v1/gonum/stat/distuv"
)

// Of 1, 2, 3, 6 the mean is 3; squares of deviations add up to 14, so the sample
// variance is 14/3 and the population variance 14/4.
func TestMeans(t *testing.T) {
	v := []float64{6, 1, 3, 2}
	for _, test := range []struct {
		name      string
		got       report.Mean
		mean, sem float64
	}{
		{"sample", report.MeanOf(v), 3, math.Sqrt(14.0 / 3 / 4)},
		{"population", report.PopulationMeanOf(v), 3, math.Sqrt(14.0 / 4 / 4)},
		{"one, sample", report.MeanOf(v[:1]), 6, 0},
		{"one, population", report.PopulationMeanOf(v[:1]), 6, 0},
		{"equal", report.PopulationMeanOf([]float64{2, 2, 2}), 2, 0},
	} {
		if math.Abs(test.got.Mean-test.mean) > 1e-14 || math.Abs(test.got.SE-test.sem) > 1e-14 {
			t.Errorf("%s: %v, want %v ± %v", test.name, test.got, test.mean, test.sem)
		}
	}
}

func TestArea(t *testing.T) {
	if got := report.Area([]int{0, 1, 2, 3}, []float64{100, 4, 2, 0}); got != 2 {
		t.Errorf("area = %v, want 2: the first regret does not count", got)
	}
	// 5 stands for four answers, and 1 for one.
	if got := report.Area([]int{0, 4, 5}, []float64{100, 5, 1}); math.Abs(got-4.2) > 1e-12 {
		t.Errorf("area = %v, want (4·5 + 1)/5", got)
	}
	if got := report.Area([]int{0, 2}, []float64{100, 5}); got != 5 {
		t.Errorf("area = %v, want 5", got)
	}
}

func TestAnswersToTenth(t *testing.T) {
	for _, test := range []struct {
		name    string
		regret  []float64
		answers int
		reached bool
	}{
		{"in one step", []float64{10, 1, 0}, 1, true},
		{"back again", []float64{10, 1, 2, 1}, 3, true},
		{"at the last answer", []float64{10, 9, 8, 1}, 3, true},
		{"never", []float64{10, 9, 8, 1.1}, 3, false},
		{"lost at the end", []float64{10, 0, 0, 2}, 3, false},
		{"no regret at all", []float64{0, 0, 0}, 0, true},
		{"none at first", []float64{0, 5, 0}, 2, true},
		{"below zero at first", []float64{-3, -1, 0}, 0, true},
		{"rounding", []float64{0, 1e-12, 1e-12}, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			counts := []int{0, 1, 2, 3}[:len(test.regret)]
			if n, ok := report.AnswersToTenth(counts, test.regret); n != test.answers || ok != test.reached {
				t.Errorf("%d, %v; want %d, %v", n, ok, test.answers, test.reached)
			}
			for i := range counts {
				counts[i] *= 5
			}
			if n, ok := report.AnswersToTenth(counts, test.regret); n != 5*test.answers || ok != test.reached {
				t.Errorf("measured after every 5: %d, %v; want %d, %v", n, ok, 5*test.answers, test.reached)
			}
		})
	}
}

// The interval of the mean of many draws is close to the normal one, mean ±
// 1.96 s.e.; its ends have a standard error of about 2.6 % of the s.e. with
// 10,000 resamples, so that 15 % is far outside.
func TestBootstrap(t *testing.T) {
	draws := distuv.Normal{Mu: 3, Sigma: 2, Src: rng.New(1, "test", 0)}
	v := make([]float64, 200)
	for i := range v {
		v[i] = draws.Rand()
	}
	m := report.PopulationMeanOf(v)
	got := report.Bootstrap(v, rng.New(2, "test", 0))
	for i, side := range []float64{-1, 1} {
		if want := m.Mean + side*1.96*m.SE; math.Abs(got[i]-want) > 0.15*m.SE {
			t.Errorf("end %d = %v, want %v", i, got[i], want)
		}
	}
	if again := report.Bootstrap(v, rng.New(2, "test", 0)); again != got {
		t.Errorf("the same stream gave %v and %v", got, again)
	}
	if got := report.Bootstrap([]float64{7, 7, 7}, rng.New(3, "test", 0)); got != [2]float64{7, 7} {
		t.Errorf("interval of a constant = %v", got)
	}
}
