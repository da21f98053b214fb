package record

import "tiebreak/internal/idrl"

// A Course is what a session has known in the course of its log.
type Course struct {
	Means    []Snapshot  // by Seq, with Seq, Representation and Mean alone; Mean is nil where it was removed
	Policies []KnownFrom // by Row; of each Candidate ID, Mu and Mus
}

// KnownFrom is a policy with the row of the log after which it is known.
type KnownFrom struct {
	idrl.Candidate
	Row int64
}
