package rehearsal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/stats"
)

// tenth is the true regret, as a share of the span, from which on a run counts as near
// the best policy.
const tenth = 0.1

// bins is the number of bins of P(regret ≤ 5 %) that calibration is shown in, all
// equally wide.
const bins = 5

// resamples is the number of resamples of a bootstrap.
const resamples = 2000

// A Figure is a statistic over runs with a 95 % interval: percentiles of a bootstrap
// that draws whole runs, because the comparisons of one run are not independent.
type Figure struct {
	Measure   string // such as "true_regret"
	At        string // answers after which, "all", or a bin
	Value     float64
	Low, High float64
	N         int // comparisons, or runs, behind it
}

// Figures returns the summary of runs, of which there must be one:
//
//	true_regret, shown_mean, shown_bound, shown_within, cosine   means
//	true_over_shown    mean true regret over the mean of shown_mean; NaN if that is 0
//	worth              mean worth of the recommended policy to a person who sees
//	covered, within    shares of comparisons with a true regret within the 95 % bound; of at most 5 %
//	said, was          in bins of shown_within: its mean, and the share of comparisons with a true regret of at most 5 %
//	answers_to_tenth   median over runs of the answers from which on the true regret stays at or below 10 %; +Inf if
//	                   half of the runs do not get there; NaN if a run was compared only at its end
//	reached_tenth      share of runs that get there
//
// What pages state is over the comparisons where they state a regret.
func Figures(runs []Run) (out []Figure) {
	for _, at := range append(milestones(runs), 0) {
		name := "all"
		if at > 0 {
			name = strconv.Itoa(at)
		}
		for _, m := range measures {
			out = append(out, m.over(runs, name, func(c Comparison) bool { return at == 0 || c.Given == at }))
		}
	}
	for k := range bins {
		in := func(c Comparison) bool { return c.Stated() && min(bins-1, int(bins*c.Shown.Within)) == k }
		name := fmt.Sprintf("%d–%d %%", 100/bins*k, 100/bins*(k+1))
		out = append(out, said.over(runs, name, in), was.over(runs, name, in))
	}
	return append(out, toTenth(runs)...)
}

// milestones returns the numbers of answers that the summary shows, in order: those
// of a list after which every run has a comparison, and the last that all have.
func milestones(runs []Run) (out []int) {
	common := map[int]int{}
	last := 0
	for _, r := range runs {
		for _, c := range r.Rows {
			if common[c.Given]++; common[c.Given] == len(runs) {
				last = max(last, c.Given)
			}
		}
	}
	for _, n := range []int{5, 10, 20, 30, 50, 100, 200} {
		if common[n] == len(runs) && n < last {
			out = append(out, n)
		}
	}
	if last > 0 {
		out = append(out, last)
	}
	return out
}

// A measure is the quotient of two sums over comparisons, without those where it is NaN.
type measure struct {
	name string
	of   func(c Comparison) (num, den float64)
}

// mean returns the measure that is the mean of f.
func mean(name string, f func(Comparison) float64) measure {
	return measure{name, func(c Comparison) (float64, float64) { return f(c), 1 }}
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// small is 1 where the true regret is small, NaN where there is none.
func small(c Comparison) float64 {
	if !c.True() {
		return math.NaN()
	}
	return one(c.Small())
}

// liked is the worth to a person who sees, NaN under a true reward.
func liked(c Comparison) float64 {
	if c.True() {
		return math.NaN()
	}
	return c.Worth
}

var (
	said = mean("said", func(c Comparison) float64 { return c.Shown.Within })
	was  = mean("was", small)

	measures = []measure{
		mean("true_regret", func(c Comparison) float64 { return c.Regret }),
		mean("shown_mean", func(c Comparison) float64 { return c.Shown.Mean }),
		{"true_over_shown", func(c Comparison) (float64, float64) { return c.Regret, c.Shown.Mean }},
		mean("shown_bound", func(c Comparison) float64 { return c.Shown.Bound }),
		mean("covered", func(c Comparison) float64 {
			if !c.Stated() || !c.True() {
				return math.NaN()
			}
			return one(c.Covered())
		}),
		mean("shown_within", func(c Comparison) float64 { return c.Shown.Within }),
		mean("within", small),
		mean("worth", liked),
		mean("cosine", func(c Comparison) float64 { return c.Cosine }),
	}
)

// over returns the measure over the comparisons that are in.
func (m measure) over(runs []Run, at string, in func(Comparison) bool) Figure {
	f := Figure{Measure: m.name, At: at}
	num, den := make([]float64, len(runs)), make([]float64, len(runs)) // by run
	for i, r := range runs {
		for _, c := range r.Rows {
			if a, b := m.of(c); in(c) && !math.IsNaN(a+b) {
				num[i] += a
				den[i] += b
				f.N++
			}
		}
	}
	f.Value, f.Low, f.High = bootstrap(len(runs), rng.New(1, m.name+" "+at, 0), func(of []int) float64 {
		var a, b float64
		for _, i := range of {
			a += num[i]
			b += den[i]
		}
		return a / b // NaN without comparisons
	})
	return f
}

// answersToTenth returns the first number of answers from which on the true regret
// stays at or below a tenth of the span, and whether there is one.
func (r Run) answersToTenth() (answers int, reached bool) {
	for _, c := range slices.Backward(r.Rows) {
		if !(c.Regret <= tenth) {
			break
		}
		answers, reached = c.Given, true
	}
	return answers, reached
}

// followed reports whether the run was compared with the truth before its end, so that it is
// known when its regret became small.
func (r Run) followed() bool { return len(r.Rows) > 1 || r.Rows[0].Given <= 1 }

// spacing returns the most answers between two comparisons of a run.
func (r Run) spacing() (most int) {
	last := 0
	for _, c := range r.Rows {
		most, last = max(most, c.Given-last), c.Given
	}
	return most
}

// toTenth returns the figures about a true regret of a tenth.
func toTenth(runs []Run) []Figure {
	n, near := make([]float64, len(runs)), make([]float64, len(runs))
	for i, r := range runs {
		n[i] = math.Inf(1)
		if answers, ok := r.answersToTenth(); ok {
			n[i], near[i] = float64(answers), 1
		}
		if !r.followed() {
			n[i] = math.NaN()
		}
	}
	median := Figure{Measure: "answers_to_tenth", At: "all", N: len(runs)}
	median.Value, median.Low, median.High = bootstrap(len(runs), rng.New(1, median.Measure, 0), func(of []int) float64 {
		v := make([]float64, len(of))
		for k, i := range of {
			v[k] = n[i]
		}
		slices.Sort(v)
		if math.IsNaN(v[0]) { // which are sorted before numbers
			return math.NaN()
		}
		return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
	})
	reached := Figure{Measure: "reached_tenth", At: "all", N: len(runs)}
	reached.Value, reached.Low, reached.High = bootstrap(len(runs), rng.New(1, reached.Measure, 0), func(of []int) float64 { return stats.MeanOf(near, of) })
	return []Figure{median, reached}
}

// bootstrap returns a statistic of n runs, given by their indexes, and its 95 %
// percentile interval. Resamples in which it is NaN do not count.
func bootstrap(n int, stream *rand.Rand, statistic func(of []int) float64) (value, low, high float64) {
	of := make([]int, n)
	for i := range of {
		of[i] = i
	}
	value = statistic(of)
	drawn := stats.Resample(n, resamples, stream, statistic)
	if len(drawn) == 0 {
		return value, math.NaN(), math.NaN()
	}
	low, high = stats.Middle95(drawn)
	return value, low, high
}

// WriteSummary writes figures as the file SummaryFile(file).
func WriteSummary(file string, figures []Figure) error {
	g := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	records := [][]string{{"measure", "at", "value", "low", "high", "n"}}
	for _, f := range figures {
		records = append(records, []string{f.Measure, f.At, g(f.Value), g(f.Low), g(f.High), strconv.Itoa(f.N)})
	}
	return replace(SummaryFile(file), encode(records))
}
