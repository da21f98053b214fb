package report

import (
	"math"
	"slices"
	"strings"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/learn/acquisition"

	"gonum.org/v1/gonum/floats"
)

// A Difference compares the areas under the regret curves of a method and a
// reference, paired by seed. Below zero, the method is better.
type Difference struct {
	Method        string     `json:"method"`
	Reference     string     `json:"reference"`
	Seeds         int        `json:"seeds"`
	Area          Mean       `json:"area"`
	ReferenceArea Mean       `json:"reference_area"`
	Diff          Mean       `json:"diff"`     // method less reference
	Relative      *float64   `json:"relative"` // Diff over the mean area of the reference; nil unless that is above zero
	Boot          [2]float64 `json:"boot95"`   // 95 % interval of Diff by paired bootstrap
	Wilcoxon      Test       `json:"wilcoxon"`
	HolmP         float64    `json:"holm_p"`      // Wilcoxon's P, adjusted for the number of methods
	Improvement   float64    `json:"improvement"` // probability that the method has the smaller area on a seed; a tie counts half
}

// Reference returns the method that the others are compared with: IDRL, or its
// first variant, or the first method if it was not run.
func Reference(e experiment.Experiment) string {
	for _, variants := range []bool{false, true} {
		i := slices.IndexFunc(e.Methods, func(m string) bool {
			return strings.Contains(m, ":") == variants && e.Method(m).Paper == acquisition.ThePapersOwn
		})
		if i >= 0 {
			return e.Methods[i]
		}
	}
	return e.Methods[0]
}

// Differences compares every other method with the reference. It returns none
// if the reference was not run or there are fewer than two seeds.
func Differences(r experiment.Result, reference string) (out []Difference) {
	ref := slices.Index(r.Experiment.Methods, reference)
	if ref < 0 || len(r.Runs) < 2 {
		return nil
	}
	var p []float64
	for m := range r.Experiment.Methods {
		if m != ref {
			d := difference(r, m, ref)
			out, p = append(out, d), append(p, d.Wilcoxon.P)
		}
	}
	for i, v := range Holm(p) {
		out[i].HolmP = v
	}
	return out
}

func difference(r experiment.Result, m, ref int) Difference {
	own, base := areas(r, m), areas(r, ref)
	diff := make([]float64, len(own))
	floats.SubTo(diff, own, base)
	d := Difference{
		Method: r.Experiment.Methods[m], Reference: r.Experiment.Methods[ref], Seeds: len(diff),
		Area: MeanOf(own), ReferenceArea: MeanOf(base), Diff: MeanOf(diff),
		Boot: Bootstrap(diff, rng.New(r.Experiment.FirstSeed, "bootstrap", uint64(len(diff)))),
	}
	if d.ReferenceArea.Mean > 0 {
		relative := d.Diff.Mean / d.ReferenceArea.Mean
		d.Relative = &relative
	}
	level(diff, max(floats.Norm(own, math.Inf(1)), floats.Norm(base, math.Inf(1))))
	d.Wilcoxon, d.Improvement = Wilcoxon(diff), improvement(diff)
	return d
}

// level rounds v to a billionth of scale, so that what is equal on paper is a
// tie.
func level(v []float64, scale float64) {
	unit := rounding * scale
	if unit == 0 {
		return
	}
	for i := range v {
		v[i] = math.Round(v[i]/unit) * unit
	}
}

// improvement returns the share of differences below zero, where a zero counts
// half.
func improvement(diff []float64) float64 {
	sum := 0.0
	for _, d := range diff {
		switch {
		case d < 0:
			sum++
		case d == 0:
			sum += 0.5
		}
	}
	return sum / float64(len(diff))
}

// Reached says how many answers a method needs until its regret stays at or
// below a tenth of the first.
type Reached struct {
	Method   string  `json:"method"`
	Answers  Mean    `json:"answers"`  // restricted mean: a run that does not get there counts as all its answers
	Median   float64 `json:"median"`   // likewise
	Censored float64 `json:"censored"` // share of runs that do not get there
}

// ReachedTenth returns how soon every method got there.
func ReachedTenth(r experiment.Result) (out []Reached) {
	counts := r.Experiment.Counts()
	for m, name := range r.Experiment.Methods {
		missed := 0.0
		n := over(r, m, func(run experiment.Run) float64 {
			answers, ok := AnswersToTenth(counts, run.Regret)
			if !ok {
				missed++
			}
			return float64(answers)
		})
		out = append(out, Reached{name, MeanOf(n), stats.Median(n), missed / float64(len(n))})
	}
	return out
}
