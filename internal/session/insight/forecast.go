package insight

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"
)

// A Prediction is the distribution of the answer to a question under a posterior. Fields of other kinds of
// questions are nil.
type Prediction struct {
	Reply       []float64    // to a comparison: probabilities of the answers in the order of idrl.Outcomes
	Best, Worst []float64    // of a group: probabilities of each clip to be called that
	Rating      *RatingRange // of a rating
}

// A RatingRange is the mean of a rating, from −1 to 1, and the numbers that it is below, and
// above, with a probability of 5 % each.
type RatingRange struct{ Mean, Low, High float64 }

// A Forecast has the probabilities of the outcomes under the posterior before an answer.
type Forecast struct {
	Seq    int64
	P      []float64 // of the outcomes; they add up to one
	Actual int       // index in P of what was answered
}

// Of returns f where choice was the answer to a comparison, of which P has the idrl.Outcomes.
func (f Forecast) Of(choice idrl.Choice) Forecast {
	order := idrl.Outcomes()
	f.Actual = slices.Index(order[:], choice)
	return f
}

// A RatingForecast is the prediction of a rating by the posterior before it.
type RatingForecast struct {
	Seq    int64
	Rating float64 // as it was given, from −1 to 1
	RatingRange

	// PIT is the probability integral transform of the rating: the predicted probability of a
	// lower one, and where the predicted distribution has a step, a number drawn between its
	// ends. If all ratings that count are on the buttons of the page, each stands for what is
	// rounded to it, and the number is drawn from there. Predictions that are right have
	// transforms that are uniform on [0, 1].
	PIT float64
}

// Predict returns what p, a posterior of m, says of the answer of the annotator to q. ok is
// false where that cannot be computed.
func Predict(m idrl.RewardModel, p idrl.Posterior, q *idrl.QueryVector, who idrl.AnnotatorID) (out Prediction, ok bool) {
	if q.Kind.Group() {
		out.Best, out.Worst = m.Groups().Picks(groupMoments(p, q.Each))
		return out, sound(out.Best) && sound(out.Worst)
	}
	l, mean, variance := likelihood(m, p, q, who)
	if q.Kind.Comparison() {
		reply := idrl.Predict(l, mean, variance)
		out.Reply = reply[:]
		return out, sound(out.Reply)
	}
	of, ok := l.(posterior.RatingLikelihood)
	if ok {
		out.Rating = rangeOf(of, mean, variance)
	}
	return out, ok
}

// Foretell returns what p, a posterior of m, says of a, the answer to comparison q. ok is false
// for answers that prefer no clip and are not 'equal', for questions of other kinds, and where
// it cannot be computed.
func Foretell(m idrl.RewardModel, p idrl.Posterior, q *idrl.QueryVector, a idrl.Answer) (f Forecast, ok bool) {
	order := idrl.Outcomes()
	f = Forecast{Seq: a.Seq, Actual: slices.Index(order[:], a.Choice)}
	if q.Kind.Group() || !q.Kind.Comparison() || f.Actual < 0 {
		return f, false
	}
	said, ok := Predict(m, p, q, a.Annotator)
	f.P = said.Reply
	return f, ok
}

// likelihood returns that of the annotator's answer to q, and the moments of its u under p.
func likelihood(m idrl.RewardModel, p idrl.Posterior, q *idrl.QueryVector, who idrl.AnnotatorID) (l idrl.Likelihood, mean, variance float64) {
	if personal, is := m.(posterior.Personal); is {
		m = personal.Asking(p, who)
	}
	mean, variance = idrl.Moments(p, q.X, p.Mean(nil), make([]float64, p.Dim()))
	return m.Likelihood(q.Query), mean, variance
}

// groupMoments returns mean and covariance under p of the differences of the rewards of the
// clips after the first from that of the first; each are the features of the clips.
func groupMoments(p idrl.Posterior, each [][]float64) (mean []float64, cov *mat.SymDense) {
	n, theta, work := len(each)-1, p.Mean(nil), make([]float64, p.Dim())
	delta := make([][]float64, n)
	mean, cov = make([]float64, n), mat.NewSymDense(n, nil)
	for i := range delta {
		delta[i] = floats.SubTo(make([]float64, p.Dim()), each[i+1], each[0])
		mean[i] = floats.Dot(theta, delta[i])
		p.CovMul(work, delta[i])
		for j := range i + 1 {
			cov.SetSym(i, j, floats.Dot(work, delta[j]))
		}
	}
	return mean, cov
}

// sound reports whether p are probabilities.
func sound(p []float64) bool {
	for _, v := range p {
		if !(v >= 0 && v <= 1+1e-9) {
			return false
		}
	}
	return len(p) > 0
}

// foretold has the predictions of an answer by the posterior before it. Seq is 0 in those that do not apply.
type foretold struct {
	reply, best, worst Forecast
	rating             RatingForecast
	pressed            float64 // the transform of the rating if it was given by pressing a button
}

// Half of the distance of two of the buttons on which people rate, and of two verdicts.
const (
	halfButton  = 0.1
	halfVerdict = 0.5
)

// halfStep returns half of the distance of two of the buttons of the session.
func (s Source) halfStep() float64 {
	if s.Episode != nil {
		return halfVerdict
	}
	return halfButton
}

// onButton reports whether a rating is one that a button stands for. half is that of halfStep.
func onButton(rating, half float64) bool {
	k := (rating + 1) / (2 * half)
	return math.Abs(k-math.Round(k)) < 1e-9
}

// foretell returns what p, a posterior of m, says of answer a to q. half is that of halfStep; stream draws where a rating
// lies within a step of its predicted distribution.
func foretell(m idrl.RewardModel, p idrl.Posterior, q *idrl.QueryVector, a idrl.Answer, half float64, stream *rand.Rand) (out foretold) {
	switch {
	case q.Kind.Group():
		if said, ok := Predict(m, p, q, a.Annotator); ok {
			out.best = Forecast{Seq: a.Seq, P: said.Best, Actual: q.Place(a.Best)}
			out.worst = Forecast{Seq: a.Seq, P: said.Worst, Actual: q.Place(a.Worst)}
		}
	case q.Kind.Comparison():
		if f, ok := Foretell(m, p, q, a); ok {
			out.reply = f
		}
	default:
		l, mean, variance := likelihood(m, p, q, a.Annotator)
		if of, ok := l.(posterior.RatingLikelihood); ok {
			below, upTo, _ := of.Distribution(a.Rating, mean, variance)
			out.rating = RatingForecast{Seq: a.Seq, Rating: a.Rating, RatingRange: *rangeOf(of, mean, variance)}
			within := stream.Float64()
			out.rating.PIT = below + within*(upTo-below)
			if below, upTo = 0, 1; a.Rating > -1 {
				_, below, _ = of.Distribution(a.Rating-half, mean, variance)
			}
			if a.Rating < 1 {
				_, upTo, _ = of.Distribution(a.Rating+half, mean, variance)
			}
			out.pressed = below + within*(upTo-below)
		}
	}
	return out
}

// rangeOf returns the mean and the 5 and 95 % quantiles of a rating.
func rangeOf(l posterior.RatingLikelihood, m, v float64) *RatingRange {
	_, _, mean := l.Distribution(0, m, v)
	return &RatingRange{Mean: mean, Low: quantile(l, 0.05, m, v), High: quantile(l, 0.95, m, v)}
}

// quantile returns the least rating that Y is at most with probability q, to 1e-11 of the scale.
func quantile(l posterior.RatingLikelihood, q, m, v float64) float64 {
	upTo := func(y float64) float64 { _, p, _ := l.Distribution(y, m, v); return p }
	low, high := -1.0, 1.0 // the scale, beyond which only ratings without ends lie
	for k := 0; k < 40 && upTo(low) >= q; k++ {
		if below, _, _ := l.Distribution(low, m, v); below == 0 {
			return low // an end of the scale
		}
		low *= 2
	}
	for k := 0; k < 40 && upTo(high) < q; k++ {
		high *= 2
	}
	for range 40 {
		if middle := (low + high) / 2; upTo(middle) >= q {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
