package idrl

import (
	"strings"
	"time"
)

// Doubts is a set of what a client reported with an answer that cannot be true. The
// answer counts all the same: a mark is for people, who decide whether to leave it
// out.
type Doubts uint8

// Doubts, each a set of one. There are no others.
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

// FindDoubts returns what of an answer to assignment as cannot be true, when it
// arrived at now and the session's instructions have that version by now. An answer that a
// program gives as such (input "api") may be fast, but not take no time at all.
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

// Defaults of new sessions for what counts as hurry.
const (
	DefaultMinDwell = 0.25 // of the clip
	DefaultMaxRate  = 60   // answers a minute
)

// RateSpan is over how many answers of a person a rate is taken.
const RateSpan = 20

// Moment returns when answer a to assignment as was given: by the device's clock, as far as
// that lies between the issue of the question and the arrival of the answer at received, both by
// the server's. So answers that were kept while there was no network are no burst, and a wrong
// or false clock makes none either.
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

// FindHurry returns the doubts of answer a, given at now by Moment, that are about hurry in
// session s: seconds is the length of the longer clip on screen, 0 of stills and where it is
// not known; before are the moments of the person's last replies, the latest first. Programs
// (input "api") are not in a hurry.
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
