package experiment

import (
	"math"
	"slices"

	"tiebreak/internal/rng"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Mean is an average over seeds with its standard error.
type Mean struct {
	Mean float64 `json:"mean"`
	SE   float64 `json:"se"` // sample standard deviation / √seeds; 0 for one seed
}

func meanOf(v []float64) Mean {
	if len(v) < 2 {
		return Mean{Mean: stat.Mean(v, nil)}
	}
	m, s := stat.MeanStdDev(v, nil)
	return Mean{m, s / math.Sqrt(float64(len(v)))}
}

// over returns f of every seed's curve of method m.
func (r Result) over(m int, f func(curve []Point) float64) []float64 {
	var out []float64
	for _, curves := range r.Curves {
		out = append(out, f(curves[m]))
	}
	return out
}

// Regret returns the mean regret of method m after n answers.
func (r Result) Regret(m, n int) Mean {
	return meanOf(r.over(m, func(c []Point) float64 { return c[n].Regret }))
}

// Cosine returns the mean cosine of method m after n answers.
func (r Result) Cosine(m, n int) Mean {
	return meanOf(r.over(m, func(c []Point) float64 { return c[n].Cosine }))
}

// Expected returns the mean expected regret of method m after n answers.
func (r Result) Expected(m, n int) Mean {
	return meanOf(r.over(m, func(c []Point) float64 { return c[n].Expected }))
}

// area returns the mean regret over the first n answers of a curve, row 0 left
// out: the area under it, per answer.
func area(curve []Point, n int) float64 {
	sum := 0.0
	for _, p := range curve[1 : n+1] {
		sum += p.Regret
	}
	return sum / float64(n)
}

// A Difference compares the areas under the regret curves of two methods,
// paired by seed. Below zero, the first is better.
type Difference struct {
	First    string     `json:"first"`
	Second   string     `json:"second"`
	Answers  int        `json:"answers"` // the area is over answers 1 to Answers, per answer
	Seeds    int        `json:"seeds"`
	Areas    [2]Mean    `json:"areas"`    // of the two methods
	Diff     Mean       `json:"diff"`     // first less second
	T        [2]float64 `json:"t95"`      // 95 % interval by Student's t
	Boot     [2]float64 `json:"boot95"`   // 95 % percentile interval by paired bootstrap
	Better   float64    `json:"better"`   // share of seeds on which the first has the smaller area
	Worse    float64    `json:"worse"`    // share of seeds on which it has the larger one; the rest are equal
	Relative float64    `json:"relative"` // Diff as a share of the second's area; 0 if that is 0
}

// window is the number of answers within which a win should show.
const window = 10

// Differences compares every method after the first with the first, over the
// first ten answers and over all. It needs two seeds; with one it returns none.
func (r Result) Differences() []Difference {
	var out []Difference
	if len(r.Curves) < 2 {
		return out
	}
	for m := 1; m < len(r.Methods); m++ {
		for _, n := range slices.Compact([]int{min(window, r.Answers), r.Answers}) {
			out = append(out, r.difference(0, m, n))
		}
	}
	return out
}

func (r Result) difference(a, b, answers int) Difference {
	first := r.over(a, func(c []Point) float64 { return area(c, answers) })
	second := r.over(b, func(c []Point) float64 { return area(c, answers) })
	diff := make([]float64, len(first))
	better, worse := 0.0, 0.0
	for i := range diff {
		diff[i] = first[i] - second[i]
		switch {
		case diff[i] < 0:
			better++
		case diff[i] > 0:
			worse++
		}
	}
	n := float64(len(diff))
	d := Difference{
		First: r.Methods[a], Second: r.Methods[b], Answers: answers, Seeds: len(diff),
		Areas: [2]Mean{meanOf(first), meanOf(second)}, Diff: meanOf(diff), Better: better / n, Worse: worse / n,
		Boot: bootstrap(diff, r.FirstSeed),
	}
	t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975)
	d.T = [2]float64{d.Diff.Mean - t*d.Diff.SE, d.Diff.Mean + t*d.Diff.SE}
	if base := d.Areas[1].Mean; base != 0 {
		d.Relative = d.Diff.Mean / base
	}
	return d
}

// resamples of the bootstrap.
const resamples = 10000

// bootstrap returns the 95 % percentile interval of the mean of v.
func bootstrap(v []float64, seed uint64) [2]float64 {
	stream := rng.New(seed, "bootstrap", uint64(len(v)))
	means := make([]float64, resamples)
	for k := range means {
		sum := 0.0
		for range v {
			sum += v[stream.IntN(len(v))]
		}
		means[k] = sum / float64(len(v))
	}
	slices.Sort(means)
	return [2]float64{
		stat.Quantile(0.025, stat.Empirical, means, nil),
		stat.Quantile(0.975, stat.Empirical, means, nil),
	}
}
