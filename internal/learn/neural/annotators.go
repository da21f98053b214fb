package neural

import (
	"context"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"

	"gonum.org/v1/gonum/floats"
)

// own returns RewardModel with the noise of each annotator learnt along with θ. ok is false if the
// likelihood of a comparison has no noise parameter.
func (m *Model) own() (belief.Own, bool) { return m.RewardModel().Own(idrl.CompareClips) }

// several reports whether at least two annotators gave informative answers.
func several(d idrl.Dataset) bool {
	var first *idrl.AnnotatorID
	for i := range d.Answers {
		switch a := &d.Answers[i]; {
		case !a.Informative():
		case first == nil:
			first = &a.Annotator
		case a.Annotator != *first:
			return true
		}
	}
	return false
}

// annotators returns the likelihood of the answers of each annotator of d to comparisons, by the
// belief about θ and the annotators after d, under the features of m: the mixture of belief.Own by the
// weights of the manners (docs/methods.md, section 2.4). It is nil if own has no model. Errors are those
// of belief.Own.Fit.
func (m *Model) annotators(ctx context.Context, d idrl.Dataset) (map[idrl.AnnotatorID]idrl.Likelihood, error) {
	own, ok := m.own()
	if !ok {
		return nil, nil
	}
	var questions []idrl.QueryVector
	var answers []idrl.Answer
	for i, a := range d.Answers {
		if !a.Informative() || !d.Queries[i].Kind.Comparison() {
			continue
		}
		x, b := m.Features(make([]float64, m.Dim()), d.Shown[i][0]), m.Features(make([]float64, m.Dim()), d.Shown[i][1])
		floats.Sub(x, b)
		questions, answers = append(questions, idrl.QueryVector{Query: d.Queries[i], X: x}), append(answers, a)
	}
	p, _, err := own.Fit(ctx, own.Prior(), questions, answers)
	if err != nil {
		return nil, err
	}
	out := map[idrl.AnnotatorID]idrl.Likelihood{}
	for _, a := range answers {
		if _, known := out[a.Annotator]; !known {
			out[a.Annotator] = own.Asking(p, a.Annotator).Likelihood(idrl.Query{Kind: idrl.CompareClips})
		}
	}
	return out, nil
}
