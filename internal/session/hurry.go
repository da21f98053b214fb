package session

import (
	"slices"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// hurry returns the doubts about an answer that arrived at now and was given in a hurry: a
// function of the log, the assignments and the clip.
func (s *generation) hurry(a idrl.Answer, as record.Assignment, now time.Time) idrl.Doubts {
	if s.spec.MinDwell == 0 && s.spec.MaxRate == 0 {
		return 0
	}
	var before []time.Time
	for _, i := range slices.Backward(s.log.of[a.Annotator]) {
		old := s.log.rows[i]
		if asked := s.asked.get(old.Assignment); old.Reply() && asked != nil {
			before = append(before, record.Moment(old, *asked, old.ReceivedAt))
		}
		if len(before) == record.RateSpan {
			break
		}
	}
	return record.FindHurry(a, s.spec, s.secondsOf(as), record.Moment(a, as, now), before)
}

// secondsOf returns how long the longer clip of a question plays; 0 if that is not known.
func (s *generation) secondsOf(as record.Assignment) float64 {
	if as.Why.Seconds > 0 || as.Query.Kind.Still() {
		return as.Why.Seconds
	}
	seen, err := s.sight.question(as.Query) // of a gold question or a repeat
	if err != nil {
		return 0
	}
	return seen.seconds
}
