package session

import (
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"
)

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
	for _, o := range s.log.outcomes {
		if s.log.counts(o.Seq) {
			c.Add(o.P, o.Of(s.log.counted(s.log.at(o.Seq)).Choice).Actual)
		}
	}
	n.Predictions = idrl.Predictions{Answers: c.Len(), LogLoss: c.LogLoss(), ECE: c.ECE(), Right: c.Right()}
	return n
}
