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
// Update does. Source: reference "methods", section 2.4.
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

// EvidenceScales returns the scale of every annotator who rates in as: of the
// seven k on a grid in log k, from −2 to 2 times logStd, that with the greatest
// evidence and prior, log k ~ N(0, logStd²). The annotators are fitted one after
// the other, in the order of their first ratings and twice over; r.Scales is where
// the fit begins, and what the prior of θ holds fixed is the scale of u. The cost is
// 14 passes an annotator. It returns errors as Evidence does, and one of kind
// Invalid if logStd is not positive. Source: reference "methods", section 2.4.
func (r Raters) EvidenceScales(qs []idrl.Query, as []idrl.Answer, logStd float64) (map[idrl.AnnotatorID]float64, error) {
	if !(logStd > 0) || !finite(logStd) {
		return nil, idrl.Errorf(idrl.Invalid, "the standard deviation of log k must be a positive number; got %v", logStd)
	}
	paired(qs, as)
	var raters []idrl.AnnotatorID
	for _, a := range as {
		if a.Choice == idrl.Rated && !slices.Contains(raters, a.Annotator) {
			raters = append(raters, a.Annotator)
		}
	}
	r.Scales = maps.Clone(r.Scales)
	if r.Scales == nil {
		r.Scales = map[idrl.AnnotatorID]float64{}
	}
	for range 2 {
		for _, a := range raters {
			k, err := r.bestScale(a, qs, as, logStd)
			if err != nil {
				return nil, err
			}
			r.Scales[a] = k
		}
	}
	return r.Scales, nil
}

// paired panics unless there is one query an answer.
func paired(qs []idrl.Query, as []idrl.Answer) {
	if len(qs) != len(as) {
		panic("belief: queries and answers differ in number")
	}
}

// bestScale returns the best k of annotator a on the grid, with the other scales
// as they are. It leaves its own in r.Scales.
func (r Raters) bestScale(a idrl.AnnotatorID, qs []idrl.Query, as []idrl.Answer, logStd float64) (float64, error) {
	best, most := 1.0, math.Inf(-1)
	for _, z := range scaleGrid {
		r.Scales[a] = math.Exp(z * logStd)
		logP, err := r.Evidence(qs, as)
		if err != nil {
			return 0, err
		}
		if logP -= 0.5 * z * z; logP > most {
			best, most = r.Scales[a], logP
		}
	}
	return best, nil
}
