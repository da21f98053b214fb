package record

import "time"

// A Rehearsal of a study, with simulated people, that a form began.
type Rehearsal struct {
	Name  string // of its page
	Owner string // the account that began it
	Title string // of the study
	Asked []byte // what was asked, as JSON
	Began time.Time

	Ended  time.Time // zero while it is under way, or if the server ended before it did
	Wrong  string    // why there is no report, for people
	Report []byte    // as JSON; empty if there is none
}
