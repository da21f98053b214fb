package record

import "tiebreak/internal/idrl"

// A Course has what a session knew after each row of the beginning of its log. Candidates have ID, Mu and Mus alone.
type Course struct {
	Means   []Snapshot // by Seq, with Seq, Representation and Mean alone; Mean is nil where it was removed
	Pool    []idrl.Candidate
	Adopted []Adoption // by Row
}

// An Adoption is a generation with the row of the log after which it came into use.
type Adoption struct {
	Row        int64
	Candidates []idrl.Candidate
}
