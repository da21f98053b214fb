package idrl

import "time"

// Why records what made a question worth asking. Researchers see it, never
// annotators.
type Why struct {
	First, Second PolicyID // the pair that it tells most about; empty where the acquisition has no pair
	Rivals        int      // policies that First was compared with, Second among them; 0 where not recorded
	PairStd       float64  // standard deviation of the difference of the pair's returns before the answer
	Info          float64  // expected information about the differences that it was chosen for, nats
	BasedOn       int64    // the generation it came from
	AfterSeq      int64    // log rows in the belief that chose it
}

// An Assignment is a question leased to an annotator.
type Assignment struct {
	ID         AssignmentID
	N          int64 // counts the assignments of a session from 1; seeds its random choices
	Query      Query
	Annotator  AnnotatorID
	Left       Side // which clip to show on the left; empty for a rating
	IssuedAt   time.Time
	LeaseUntil time.Time
	Answer     AnswerID // that closed it; empty while open
	Reopens    AnswerID // the withdrawn answer whose question this asks again; empty else
	Why        Why
}
