package quality

import (
	"time"

	"tiebreak/internal/idrl"
)

// AnnotatorStats summarises one annotator's answers.
type AnnotatorStats struct {
	Annotator     idrl.AnnotatorID
	LeftOut       bool // their answers are left out
	Turned        int  // answers that count turned
	Answers       int
	Decisive      int // a, b or a rating
	Equal         int
	CantTell      int
	Skipped       int
	Undone        int
	Marked        int           // with Doubts
	MedianTime    time.Duration // of a response
	Sided         int           // decisive comparisons whose sides are known
	LeftShare     float64       // share of decisive comparisons won by the left clip
	LeftLow       float64       // 95 % Wilson interval of LeftShare
	LeftHigh      float64
	Predicted     float64 // share of decisive comparisons, as they count, in which the posterior before them predicted the choice
	PredictedSize int     // comparisons behind Predicted
	Reversed      bool    // for the turned answers, or for the others, it is significantly below ½: see Reversed
}
