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
)

// doubtNames name the doubts, the lowest bit first, in the database and in exports.
var doubtNames = [...]string{"side", "instructions", "clock", "duration", "haste"}

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
	if a.Left != as.Left {
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
