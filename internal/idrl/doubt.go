package idrl

import (
	"strings"
	"time"
)

// Doubts is a set of reported data of an answer that cannot be true. The answer counts all the
// same: researchers decide whether to leave it out.
type Doubts uint8

// The doubts, each a set of one.
const (
	DoubtSide         Doubts = 1 << iota // the clips were not on the sides that the question gave them
	DoubtInstructions                    // the session has no such version of its instructions yet
	DoubtClock                           // shown before the question was issued, or in the future: the device's clock is wrong, or the time invented
	DoubtDuration                        // took longer than the time since the question was issued
	DoubtHaste                           // decided faster than a person can
	DoubtDwell                           // decided before enough of the clip was on screen (SessionSpec.MinDwell)
	DoubtRate                            // one of many answers in a short time (SessionSpec.MaxRate)
)

// doubtNames name the doubts, the lowest bit first, in the database and in exports.
var doubtNames = [...]string{"side", "instructions", "clock", "duration", "haste", "dwell", "rate"}

// String returns the names of the doubts with commas between them.
func (d Doubts) String() string {
	var names []string
	for i, name := range doubtNames {
		if d&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// ParseDoubts is the inverse of String. Names that it does not know are left out.
func ParseDoubts(text string) (d Doubts) {
	for i, name := range doubtNames {
		for part := range strings.SplitSeq(text, ",") {
			if part == name {
				d |= 1 << i
			}
		}
	}
	return d
}

// Tolerances of Doubts.
const (
	ClockTolerance    = 2 * time.Minute        // between the clocks of a device and of the server
	DurationTolerance = time.Second            // between two monotonic clocks, over the life of a question
	ShortestDecision  = 200 * time.Millisecond // people need about this long to react to one light, and longer to choose
)

// FindDoubts returns the doubts of an answer to assignment as that arrived at now, when the
// session's instructions had that version. An answer of a program (input "api") may be fast, but
// must take some time.
func FindDoubts(a Answer, as Assignment, instructions int64, now time.Time) (d Doubts) {
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	if a.Left != as.Left || a.Order != as.Order {
		d |= DoubtSide
	}
	if a.Instructions < 1 || a.Instructions > instructions { // an earlier one is possible: the question was open when they changed
		d |= DoubtInstructions
	}
	if a.ShownAt.Before(as.IssuedAt.Add(-ClockTolerance)) || a.ShownAt.After(now.Add(ClockTolerance)) {
		d |= DoubtClock
	}
	if ms(a.ResponseMS)+ms(a.HiddenMS) > now.Sub(as.IssuedAt)+DurationTolerance {
		d |= DoubtDuration
	}
	if a.Informative() && (a.ResponseMS <= 0 || a.Input != "api" && ms(a.ResponseMS) < ShortestDecision) {
		d |= DoubtHaste
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
func Moment(a Answer, as Assignment, received time.Time) time.Time {
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
func FindHurry(a Answer, s SessionSpec, seconds float64, now time.Time, before []time.Time) (d Doubts) {
	if a.Input == "api" {
		return 0
	}
	if a.Informative() && float64(a.ResponseMS) < 1000*s.MinDwell*seconds {
		d |= DoubtDwell
	}
	if s.MaxRate > 0 && len(before) >= RateSpan-1 {
		least := time.Duration(RateSpan-1) * time.Minute / time.Duration(s.MaxRate)
		if now.Sub(before[RateSpan-2]) < least {
			d |= DoubtRate
		}
	}
	return d
}
