package answerable

import (
	"math"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/measure"
)

// A Question is what the probability of a clear answer depends on.
type Question struct {
	// Apart is how far the two clips look apart (measure.Pair.Apart). Of a clip that is to
	// be rated it is how much moves, in units from which it is lively, at most 2; 1 of a
	// still, and where nothing is known.
	Apart float64

	Lead    float64 // |mean| / standard deviation of the difference of the clips' rewards; 0 for a rating
	Seconds float64 // of the viewer, of the longer clip; 0 of a still
}

// mostMoving bounds Apart of a clip that is to be rated.
const mostMoving = 2

// Of returns what w says of a question of a kind.
func Of(kind idrl.QueryKind, w idrl.Why) Question {
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

// Bounds of what is seen, beyond which it makes no difference.
const (
	leastApart, mostApart = 0.1, 6.
	mostLead              = 3.
	mostSeconds           = 10.

	usualSeconds = 2. // of a clip, so that the first weight is about one that lasts as long
)

// row returns x, by which the log-odds of a clear answer are w·x.
func (q Question) row() [terms]float64 {
	x := [terms]float64{1, math.Log(min(max(q.Apart, leastApart), mostApart)), min(q.Lead, mostLead), 0}
	if q.Seconds > 0 {
		x[3] = min(q.Seconds, mostSeconds) - usualSeconds
	}
	return x
}

// A Model gives the probability of a clear answer: it is logistic in row.
type Model struct{ weights [terms]float64 }

// The prior of the weights is normal. Film strips of pairs of clips (package measure) say
// that about four in five of the pairs that are just easy can be told apart well (apart 1), two
// in five where half of that is seen, and nineteen in twenty at twice of it. The other two are only
// known to be small, and rather not negative.
var (
	priorMean = [terms]float64{1.5, 2.5, 0.3, 0.1}
	priorStd  = [terms]float64{1, 1, 0.3, 0.1}
)

// Prior returns the model before any reply.
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
