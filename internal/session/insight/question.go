package insight

import (
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Wanted says which questions a session is asked for.
type Wanted struct {
	Before int64 // those answered in earlier rows of the log; 0 for the newest
	N      int   // at most so many, and at most MostWanted
	Best   bool  // Policy.Now is wanted, which takes longest

	// Recorded wants predictions as they are in a Report: of answers after the first Followed those
	// that were recorded, where they are still true.
	Recorded bool
}

// MostWanted is how many questions a session returns at once.
const MostWanted = 50

// A Question is one that was answered, with what was known before the answer: by the answers
// that count now and came before it.
type Question struct {
	Answer     idrl.Answer
	Assignment record.Assignment // the question, and why it was asked
	Undone     bool              // the answer is withdrawn
	LeftOut    bool              // the annotator is
	Turned     bool              // Answer, which is as it was given, counts turned

	Clips []idrl.Clip // of the question, in its order; those that are known

	Forecast  bool // Predicted is known
	Predicted Prediction

	// Policies are those that it was chosen to tell apart: the two first, then other rivals
	// of the first.
	Policies []Policy
}

// A Policy is one of those that a question tells apart.
type Policy struct {
	ID    idrl.PolicyID
	Title string        // what people call it; empty unless it has a name of its own
	Clip  idrl.ClipID   // empty where there is none any more
	Then  record.Chance // to be the best when the question was chosen, as recorded then (record.Why.Best)
	Known bool          // it is still compared with; else Now is 0

	// Now is the probability to have the highest return of all policies that are known now,
	// together with those that count as the same policy, by the present posterior.
	Now float64
}
