package report

import (
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/base/stats"
	"tiebreak/internal/lab/experiment"

	"gonum.org/v1/gonum/stat"
)

// A Mean is an average over seeds with its standard error.
type Mean struct {
	Mean float64 `json:"mean"`
	SE   float64 `json:"se"` // 0 for one seed
}

// MeanOf returns the mean of v with the standard error s/√n, where s is the
// sample standard deviation, which divides by n − 1. v must not be empty.
func MeanOf(v []float64) Mean {
	if len(v) < 2 {
		return Mean{Mean: stat.Mean(v, nil)}
	}
	m, s := stat.MeanStdDev(v, nil)
	return Mean{m, s / math.Sqrt(float64(len(v)))}
}

// PopulationMeanOf returns the mean of v with the standard error s/√n, where s
// is the population standard deviation, which divides by n, as the authors'
// curves have it. v must not be empty.
func PopulationMeanOf(v []float64) Mean {
	m, s := stat.PopMeanStdDev(v, nil)
	return Mean{m, s / math.Sqrt(float64(len(v)))}
}

// Area returns the mean of regret over the answers 1 to N: the area under the
// curve per answer. regret[i] was measured after counts[i] answers, and stands for
// those since the measurement before too. That before the first answer is left
// out, since no method has had a say in it. There are at least two.
func Area(counts []int, regret []float64) float64 {
	var weights []float64 // nil: the same for all
	for i := range counts[1:] {
		weights = append(weights, float64(counts[i+1]-counts[i]))
	}
	if weights[0] == weights[len(weights)-1] { // only the last may differ
		weights = nil
	}
	return stat.Mean(regret[1:], weights)
}

// share is the part of the first regret that counts as learnt, and rounding is
// what two regrets that are equal on paper may differ by.
const (
	share    = 0.1
	rounding = 1e-9
)

// AnswersToTenth returns the smallest of counts from which on regret stays at or
// below a tenth of regret[0] until the end, and whether there is one; if not, the
// number is N, that of the answers given. regret[i] was measured after counts[i]
// answers. A first regret below zero counts as zero.
func AnswersToTenth(counts []int, regret []float64) (answers int, reached bool) {
	limit := share*max(0, regret[0]) + rounding
	last := len(regret) - 1
	if regret[last] > limit {
		return counts[last], false
	}
	for last > 0 && regret[last-1] <= limit {
		last--
	}
	return counts[last], true
}

// resamples is the number of resamples of a bootstrap.
const resamples = 10000

// Bootstrap returns the 95 % percentile interval of the mean of v, from 10,000
// resamples drawn by stream. Of paired differences, it is the paired bootstrap.
func Bootstrap(v []float64, stream *rand.Rand) [2]float64 {
	low, high := stats.Middle95(stats.Resample(len(v), resamples, stream, func(of []int) float64 { return stats.MeanOf(v, of) }))
	return [2]float64{low, high}
}

// over returns f of the run of method m on every seed.
func over(r experiment.Result, m int, f func(experiment.Run) float64) []float64 {
	out := make([]float64, len(r.Runs))
	for i, runs := range r.Runs {
		out[i] = f(runs[m])
	}
	return out
}

// areas returns the area under the regret curve of method m on every seed.
func areas(r experiment.Result, m int) []float64 {
	counts := r.Experiment.Counts()
	return over(r, m, func(run experiment.Run) float64 { return Area(counts, run.Regret) })
}

// A measure is one of the curves of a run.
type measure struct {
	name  string // in files
	label string // of an axis
	of    func(experiment.Run) []float64
}

func regretMeasure(unit string) measure {
	return measure{"regret", "Regret (" + unit + ")", func(r experiment.Run) []float64 { return r.Regret }}
}

// second returns the measure that goes with the regret of an experiment: the
// cosine where the figure says so, else the error of the rewards.
func second(e experiment.Experiment) measure {
	if f, err := experiment.FindFigure(e.Figure); err == nil && f.Cosine {
		return measure{"cosine", "Cosine to the true weights", func(r experiment.Run) []float64 { return r.Cosine }}
	}
	return measure{"mse", "Squared error of the rewards", func(r experiment.Run) []float64 { return r.MSE }}
}

// at returns the values of a measure of method m after Experiment.Counts()[i]
// answers, by seed.
func (s measure) at(r experiment.Result, m, i int) []float64 {
	return over(r, m, func(run experiment.Run) float64 { return s.of(run)[i] })
}

// milestones returns the indexes of the numbers of answers that a table shows.
func milestones(counts []int) (out []int) {
	last := len(counts) - 1
	for i, n := range counts[:last] {
		if slices.Contains([]int{0, 1, 2, 3, 5, 10, 20, 50, 100}, n) {
			out = append(out, i)
		}
	}
	return append(out, last)
}
