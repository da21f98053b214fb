package idrl

import (
	"strings"
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
