package answerable

import (
	"math"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/measure"
)

// A Question has the quantities on which the probability of a clear answer depends.
type Question struct {
	// Apart is how different the two clips look (measure.Pair.Apart). For a rating it is the motion
	// of the clip, in units of the threshold of lively clips, at most 2; 1 for a still, and where
	// it is not known.
	Apart float64

	Lead    float64 // |mean| / standard deviation of the difference of the clips' rewards; 0 for a rating
	Seconds float64 // of the viewer, of the longer clip; 0 of a still
}

// mostMoving bounds Apart of a clip that is to be rated.
const mostMoving = 2

// Of returns the Question for w, of a query of a kind.
func Of(kind idrl.QueryKind, w record.Why) Question {
	switch {
	case kind.Comparison(), kind.Group():
		return Question{Apart: w.Apart, Lead: w.Lead, Seconds: w.Seconds}
	case kind.Still():
		return Question{Apart: 1}
	}
	return Question{Apart: min(w.MotionA/measure.LivelyFrom, mostMoving), Seconds: w.Seconds}
}

// terms is the number of weights.
const terms = 4

// Limits of what is seen, beyond which the model is constant.
const (
	leastApart, mostApart = 0.1, 6.
	mostLead              = 3.
	mostSeconds           = 10.

	usualSeconds = 2. // of a clip, so that the first weight is about one that lasts as long
)

// row returns x, the inputs of the model: w·x is the log-odds of a clear answer.
func (q Question) row() [terms]float64 {
	x := [terms]float64{1, math.Log(min(max(q.Apart, leastApart), mostApart)), min(q.Lead, mostLead), 0}
	if q.Seconds > 0 {
		x[3] = min(q.Seconds, mostSeconds) - usualSeconds
	}
	return x
}

// A Model gives the probability of a clear answer: it is logistic in row.
type Model struct{ weights [terms]float64 }

// The prior of the weights is normal. Film strips of pairs of clips (package measure) indicate that
// people can distinguish about four in five of the pairs at the threshold of easy ones (apart 1),
// two in five at half of it, and nineteen in twenty at twice of it. Of the other two weights only
// is known that they are small, and probably not negative.
var (
	priorMean = [terms]float64{1.5, 2.5, 0.3, 0.1}
	priorStd  = [terms]float64{1, 1, 0.3, 0.1}
)

// Prior returns the model before the first reply.
func Prior() Model { return Model{priorMean} }

// Probability returns that of a clear answer to q, in (0, 1).
func (m Model) Probability(q Question) float64 { return logistic(m.logOdds(q.row())) }

func (m Model) logOdds(x [terms]float64) (sum float64) {
	for k, w := range m.weights {
		sum += w * x[k]
	}
	return sum
}

// logistic returns 1/(1 + e⁻ᵗ), at least e⁻³⁰ and less than 1.
func logistic(t float64) float64 { return 1 / (1 + math.Exp(-min(max(t, -30), 30))) }
