package record

import (
	"time"

	"tiebreak/internal/idrl"
)

// Tolerances of Doubts.
const (
	ClockTolerance    = 2 * time.Minute        // between the clocks of a device and of the server
	DurationTolerance = time.Second            // between two monotonic clocks, over the life of a question
	ShortestDecision  = 200 * time.Millisecond // people need about this long to react to one light, and longer to choose
)

// FindDoubts returns the doubts of an answer to assignment as that arrived at now, when the
// session's instructions had that version. An answer of a program (input "api") may be fast, but
// must take some time.
func FindDoubts(a idrl.Answer, as Assignment, instructions int64, now time.Time) (d idrl.Doubts) {
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	if a.Left != as.Left || a.Order != as.Order {
		d |= idrl.DoubtSide
	}
	if a.Instructions < 1 || a.Instructions > instructions { // an earlier one is possible: the question was open when they changed
		d |= idrl.DoubtInstructions
	}
	if a.ShownAt.Before(as.IssuedAt.Add(-ClockTolerance)) || a.ShownAt.After(now.Add(ClockTolerance)) {
		d |= idrl.DoubtClock
	}
	if ms(a.ResponseMS)+ms(a.HiddenMS) > now.Sub(as.IssuedAt)+DurationTolerance {
		d |= idrl.DoubtDuration
	}
	if a.Informative() && (a.ResponseMS <= 0 || a.Input != "api" && ms(a.ResponseMS) < ShortestDecision) {
		d |= idrl.DoubtHaste
	}
	return d
}

// Defaults of new sessions for hurried answers.
const (
	DefaultMinDwell = 0.25 // of the clip
	DefaultMaxRate  = 60   // answers a minute
)

// RateSpan is the number of answers of a person over which a rate is computed.
const RateSpan = 20

// Moment returns the time at which answer a to assignment as was given: by the device's clock, if
// that is between the issue of the question and the arrival of the answer at received, both by the
// server's clock. So answers that were kept during a network failure do not count as fast, and a
// wrong clock has no effect.
func Moment(a idrl.Answer, as Assignment, received time.Time) time.Time {
	t := a.AnsweredAt
	if t.Before(as.IssuedAt) {
		t = as.IssuedAt
	}
	if t.After(received) {
		t = received
	}
	return t
}

// FindHurry returns the doubts about hurry of answer a, given at now by Moment, in session s.
// seconds is the length of the longer clip on screen, 0 for stills and where it is not known;
// before are the moments of the person's last replies, the latest first. Programs (input "api") are
// never in a hurry.
func FindHurry(a idrl.Answer, s idrl.SessionSpec, seconds float64, now time.Time, before []time.Time) (d idrl.Doubts) {
	if a.Input == "api" {
		return 0
	}
	if a.Informative() && float64(a.ResponseMS) < 1000*s.MinDwell*seconds {
		d |= idrl.DoubtDwell
	}
	if s.MaxRate > 0 && len(before) >= RateSpan-1 {
		least := time.Duration(RateSpan-1) * time.Minute / time.Duration(s.MaxRate)
		if now.Sub(before[RateSpan-2]) < least {
			d |= idrl.DoubtRate
		}
	}
	return d
}
