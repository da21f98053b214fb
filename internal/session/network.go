package session

import (
	"math"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/quality"
)

// An outcome is an answer to a comparison and what the posterior before it predicted.
type outcome struct {
	p      [3]float64 // of clip a, clip b and equal
	actual int
}

// choices are the outcomes of a comparison, in the order of outcome.p.
func choices() [3]idrl.Choice { return [3]idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal} }

// predict returns what a belief predicts of a comparison, and what was answered. ok is
// false for answers that say nothing, and of questions of other kinds.
func predict(m idrl.RewardModel, before idrl.Posterior, q *idrl.QueryVector, a idrl.Answer) (out outcome, ok bool) {
	if !q.Kind.Comparison() {
		return out, false
	}
	d := before.Dim()
	mean, variance := idrl.Moments(before, q.X, before.Mean(nil), make([]float64, d))
	sum := 0.0
	order, l := choices(), m.Likelihood(q.Query)
	for _, r := range idrl.Replies(l) {
		logZ, _, _ := l.LogZ(r, mean, variance)
		p := math.Exp(logZ)
		out.p[slices.Index(order[:], r.Choice)] += p
		sum += p
	}
	if k := slices.Index(order[:], a.Choice); k >= 0 {
		out.actual, ok = k, true
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return outcome{}, false
	}
	for k := range out.p {
		out.p[k] /= sum // likelihoods with an answer in between do not add up to one
	}
	return out, ok
}

// fitFollowed reports whether features came into use after row seq. What was predicted of
// the answer after it cannot be told from the record, which has no posterior under them
// before that answer.
func (s *Session) fitFollowed(seq int64) bool {
	return slices.ContainsFunc(s.fits, func(f idrl.LearntFit) bool { return f.AdoptedAt == seq })
}

// network returns what is to be said of the reward network of the session.
func (s *Session) network() idrl.Network {
	if s.spec.Model != idrl.NetworkModel {
		return idrl.Network{}
	}
	n := idrl.Network{Used: true, Version: s.features.version(), Fitting: s.refit.result != nil}
	if n.Version > 0 {
		n.BasedOn = s.fits[n.Version-1].BasedOn
	}
	var c quality.Calibration
	for _, a := range idrl.Effective(s.log.rows) {
		if o, ok := s.log.outcomes[a.ID]; ok {
			c.Add(o.p[:], o.actual)
		}
	}
	n.Predictions = idrl.Predictions{Answers: c.Len(), LogLoss: c.LogLoss(), ECE: c.ECE(), Right: c.Right()}
	return n
}
