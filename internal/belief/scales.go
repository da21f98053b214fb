package belief

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"tiebreak/internal/idrl"
)

// Evidence returns log p(as | qs) = Σ log Z of the informative answers, each given
// those before it, in one pass of updates: exact where the answers are Gaussian.
// as[i] answers qs[i]; it panics if their numbers differ, and returns errors as
// Update does. Source: docs/methods.md, section 2.4.
func (r Raters) Evidence(qs []idrl.Query, as []idrl.Answer) (float64, error) {
	paired(qs, as)
	var sum float64
	b := r.Prior().(*RatersBelief)
	for i, a := range as {
		next, logZ, err := r.step(b, qs[i], a)
		if err != nil {
			return 0, fmt.Errorf("answer %d of %d: %w", i+1, len(as), err)
		}
		b, sum = next, sum+logZ
	}
	return sum, nil
}

// scaleGrid holds the candidates of log k in units of its prior standard
// deviation.
var scaleGrid = [...]float64{-2, -4. / 3, -2. / 3, 0, 2. / 3, 4. / 3, 2}

// EvidenceScales returns the scale of every annotator who rates in as, and r.Scales
// of the others. It looks for the greatest evidence and prior, log k ~ N(0, logStd²),
// on a grid of seven in log k, from −2 to 2 times logStd. It begins with 1, fits one
// annotator after the other, in the order of first ratings, and then tries to move
// all by a step, because what they share only the prior of θ tells apart; until
// nothing is better, five times at most. The cost is up to 35 passes an annotator. It
// returns errors as Evidence does, and one of kind Invalid if logStd is not positive.
// Source: docs/methods.md, section 2.4.
func (r Raters) EvidenceScales(qs []idrl.Query, as []idrl.Answer, logStd float64) (map[idrl.AnnotatorID]float64, error) {
	if !(logStd > 0) || !finite(logStd) {
		return nil, idrl.Errorf(idrl.Invalid, "the standard deviation of log k must be a positive number; got %v", logStd)
	}
	paired(qs, as)
	f := scalesFit{model: r, queries: qs, answers: as, logStd: logStd, best: math.Inf(-1)}
	for _, a := range as {
		if a.Choice == idrl.Rated && !slices.Contains(f.raters, a.Annotator) {
			f.raters = append(f.raters, a.Annotator)
			f.at = append(f.at, len(scaleGrid)/2)
		}
	}
	for range 5 {
		before := f.best
		if err := f.round(); err != nil {
			return nil, err
		}
		if f.best == before {
			break
		}
	}
	return f.scales(f.at), nil
}

// scalesFit looks for the best scales of the raters, at indices of scaleGrid.
type scalesFit struct {
	model   Raters
	queries []idrl.Query
	answers []idrl.Answer
	logStd  float64

	raters []idrl.AnnotatorID
	at     []int   // of each rater
	best   float64 // log evidence and prior there
}

// round tries every change of one scale, and a step of all in either direction.
func (f *scalesFit) round() error {
	for i := range f.raters {
		for k := range scaleGrid {
			next := slices.Clone(f.at)
			next[i] = k
			if err := f.try(next); err != nil {
				return err
			}
		}
	}
	for _, step := range []int{-1, 1} {
		next := slices.Clone(f.at)
		for i := range next {
			next[i] = min(max(next[i]+step, 0), len(scaleGrid)-1)
		}
		if err := f.try(next); err != nil {
			return err
		}
	}
	return nil
}

// try moves to next if that is better.
func (f *scalesFit) try(next []int) error {
	f.model.Scales = f.scales(next)
	logP, err := f.model.Evidence(f.queries, f.answers)
	if err != nil {
		return err
	}
	for _, k := range next {
		logP -= 0.5 * scaleGrid[k] * scaleGrid[k]
	}
	if logP > f.best {
		f.best, f.at = logP, next
	}
	return nil
}

// scales returns the model's scales with those of the raters at indices of
// scaleGrid.
func (f *scalesFit) scales(at []int) map[idrl.AnnotatorID]float64 {
	out := maps.Clone(f.model.Scales)
	if out == nil {
		out = map[idrl.AnnotatorID]float64{}
	}
	for i, a := range f.raters {
		out[a] = math.Exp(scaleGrid[at[i]] * f.logStd)
	}
	return out
}

// paired panics unless there is one query an answer.
func paired(qs []idrl.Query, as []idrl.Answer) {
	if len(qs) != len(as) {
		panic("belief: queries and answers differ in number")
	}
}
