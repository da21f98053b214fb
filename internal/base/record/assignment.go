package record

import (
	"math"
	"time"

	"tiebreak/internal/idrl"
)

// Why records why a question was chosen. Researchers see it, never annotators.
type Why struct {
	Purpose       Purpose       // empty where an earlier version asked
	First, Second idrl.PolicyID // the two policies about whose difference it has the most information; empty where the acquisition has no pair
	Rivals        int           // policies that First was compared with, Second among them; 0 where not recorded
	PairStd       float64       // standard deviation of the difference of the pair's returns before the answer
	Info          float64       // expected information about the differences that it was chosen for, nats
	BasedOn       int64         // the generation it came from
	AfterSeq      int64         // log rows in the belief that chose it

	// Shares of the rivals of First in the value for which the question was chosen, the largest
	// first; the rest to one belongs to other rivals. All are zero where that is not known: without
	// a pair, or if an earlier version asked.
	Shares [MaxShares]Share

	// Best are the probabilities to be the best of all policies that were known when the question
	// was chosen: of First, then of the rivals in Shares, each with the policies that count as the
	// same one. Open questions counted as answered. None is known where the strategy does not
	// compute them, or if an earlier version asked.
	Best [1 + MaxShares]Chance

	// The clips as a person sees them, and the probability of a clear answer. All are 0 where that
	// is not known: the clips are not drawn, or an earlier version asked. See package picture.
	Answerable       float64 // probability of a clear answer, in (0, 1)
	Apart            float64 // how far the two clips look apart (measure.Pair.Apart); 0 for a rating
	MotionA, MotionB float64 // of the clips a and b, body sizes per second of the viewer; 0 of a still
	Lead             float64 // |mean| / standard deviation of θ·x, at most MaxLead; 0 for a rating
	Seconds          float64 // of the viewer, of the longer clip; 0 of a still
}

// A Purpose is the reason for which a question is asked.
type Purpose string

// The purposes of questions.
const (
	ForValue   Purpose = "value"    // for its value under the strategy
	AtRandom   Purpose = "random"   // drawn at random by the strategy
	ForHeldOut Purpose = "held_out" // drawn at random, and held out
	ForGold    Purpose = "gold"     // gold: the researcher has given the right answer
	ForRepeat  Purpose = "repeat"   // the person answered it before
	ForDuel    Purpose = "duel"     // whether First, which was trained, takes the lead from Second
)

// A Chance is a probability in thousandths, plus one; 0 where it is not known.
type Chance uint16

// ChanceOf rounds a probability to thousandths.
func ChanceOf(p float64) Chance { return 1 + Chance(math.Round(1000*p)) }

// P returns the probability; known is false where there is none.
func (c Chance) P() (p float64, known bool) { return float64(max(c, 1)-1) / 1000, c > 0 }

// MaxShares is how many rivals a Why names.
const MaxShares = 6

// A Share is how much of the value of a question is about one rival.
type Share struct {
	Policy idrl.PolicyID // empty where there is none
	Part   float64       // of the weighted variance that the answer is expected to take away, in (0, 1]
}

// MaxLead is the largest Why.Lead, so that it is finite.
const MaxLead = 100

// An Assignment is a question leased to an annotator.
type Assignment struct {
	ID         idrl.AssignmentID
	N          int64 // counts the assignments of a session from 1; seeds its random choices
	Query      idrl.Query
	Annotator  idrl.AnnotatorID
	Left       idrl.Side  // which clip to show on the left; empty but for a comparison
	Order      idrl.Order // in which to show the clips of a group; empty for other questions
	IssuedAt   time.Time
	LeaseUntil time.Time
	Answer     idrl.AnswerID     // that closed it; empty while open
	Reopens    idrl.AnswerID     // the withdrawn answer whose question this asks again; empty else
	Before     idrl.AssignmentID // the waiting question of the same person that this is asked before, because it was worth more; empty else
	Condition  Condition         // how it was chosen, in a session with several conditions
	Gold       int64             // version of the Known whose gold question it is; 0 for others
	Why        Why
}
