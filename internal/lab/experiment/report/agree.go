package report

import (
	"math"
	"slices"

	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/authors"
)

// An Agreement compares a measure of a method with the authors' curve.
type Agreement struct {
	Method  string      `json:"method"`
	Measure string      `json:"measure"` // "regret", "mse" or "cosine"
	Seeds   int         `json:"seeds"`   // of ours; the authors' are 1 to TheirSeeds
	Theirs  int         `json:"their_seeds"`
	Inside  float64     `json:"inside"` // share of Points that are inside
	Points  []AgreeWith `json:"points"` // by number of queries
}

// AgreeWith is an Agreement at one number of queries. The standard errors are
// those of PopulationMeanOf, as the authors' are.
type AgreeWith struct {
	Queries int     `json:"queries"`
	Ours    Mean    `json:"ours"`
	Theirs  Mean    `json:"theirs"`
	Diff    float64 `json:"diff"`   // ours less theirs
	SE      float64 `json:"se"`     // √(ours² + theirs²), of the difference of two independent means
	Inside  bool    `json:"inside"` // |Diff| ≤ 2 SE, or at most 1e-6 where SE is 0 up to rounding
}

// exactly is the difference that counts as none where the standard error is
// zero: the authors' curves have eight digits.
const exactly = 1e-6

// Agree compares every method that has a curve of the authors with it: the
// regret of all of them first, then the second measure. It returns none unless
// the experiment does all that the authors' code does. If the seeds start at 1,
// those that the authors did not run are left out.
func Agree(r experiment.Result) (out []Agreement) {
	e := r.Experiment
	if !asAuthors(e) {
		return nil
	}
	for _, s := range []measure{regretMeasure(e.Unit), second(e)} {
		for m, name := range e.Methods {
			c, ok := authors.CurveOf(setting(e), authorsName(e, name))
			if mean, _ := column(c, s.name); !ok || len(mean) == 0 {
				continue
			}
			if a := agree(firstSeeds(r, c.Seeds), m, s, c); len(a.Points) > 0 {
				out = append(out, a)
			}
		}
	}
	return out
}

// asAuthors reports whether the experiment does all that the authors' code does.
func asAuthors(e experiment.Experiment) bool {
	return e.Task == nil && e.Mode == experiment.Paper && e.Walls == experiment.Code && e.Candidates == experiment.Code
}

// setting returns the authors' name of an experiment.
func setting(e experiment.Experiment) string { return e.Figure + "_" + e.Queries }

// authorsName returns the authors' name of a method.
func authorsName(e experiment.Experiment, method string) string { return e.Method(method).Title }

// firstSeeds returns r with at most n seeds if they start at 1.
func firstSeeds(r experiment.Result, n int) experiment.Result {
	if r.Experiment.FirstSeed == 1 {
		r.Runs = r.Runs[:min(n, len(r.Runs))]
	}
	return r
}

func agree(r experiment.Result, m int, s measure, c authors.Curve) Agreement {
	a := Agreement{Method: r.Experiment.Methods[m], Measure: s.name, Seeds: len(r.Runs), Theirs: c.Seeds}
	mean, se := column(c, s.name)
	counts := r.Experiment.Counts()
	for i, n := range c.Queries {
		k := slices.Index(counts, n)
		if k < 0 {
			continue
		}
		p := compare(PopulationMeanOf(s.at(r, m, k)), Mean{mean[i], se[i]})
		p.Queries = n
		if p.Inside {
			a.Inside++
		}
		a.Points = append(a.Points, p)
	}
	a.Inside /= float64(len(a.Points))
	return a
}

// column returns the mean and the standard error of a measure.
func column(c authors.Curve, measure string) (mean, se []float64) {
	switch measure {
	case "mse":
		return c.MSEMean, c.MSESE
	case "cosine":
		return c.CosineMean, c.CosineSE
	default:
		return c.RegretMean, c.RegretSE
	}
}

func compare(ours, theirs Mean) AgreeWith {
	p := AgreeWith{Ours: ours, Theirs: theirs, Diff: ours.Mean - theirs.Mean, SE: math.Hypot(ours.SE, theirs.SE)}
	off := math.Abs(p.Diff)
	p.Inside = off <= 2*p.SE || p.SE <= rounding && off <= exactly
	return p
}
