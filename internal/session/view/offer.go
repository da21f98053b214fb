package view

import (
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/stopping"
)

// Offer is the part of a session that an annotator may see.
type Offer struct {
	Seq     int64
	Open    []record.Assignment // leased to the annotator, in the order to show them
	Answers int                 // effective and informative answers of all annotators
	Mine    int                 // answers of this annotator that are not withdrawn, informative or not
	Skipped int                 // those of Mine that are not informative
	Budget  int
	Seen    drawing.Part      // of their pictures: outside of it there is nothing to see in any clip of the session; zero where that is not known
	Done    bool              // there are no further questions: the session is complete or closed, or the annotator has given SessionSpec.AnswersEach
	Paused  bool              // a researcher has paused the session: Open is empty for now
	Waiting string            // why Open is empty, for people; empty if it is not, or all questions are answered
	Enough  bool              // the session may stop (SessionSpec.Doubt), and nothing else ends it: the annotator is done, and may go on
	Undo    idrl.AnswerID     // the annotator's last answer that can be undone; empty if none
	Left    stopping.Forecast // answers of all annotators until the session is complete or more of them change little
	Code    string            // SessionSpec.CompletionCode, once the annotator has answered, and Done or Enough
	Effect  bool              // the annotator may see the result, and there is one
	Same    bool              // the result looks as it did before the first answer

	Instructions int64 // version of those in use
	Learning     Learning
}

// Learning counts the answers that the session has not used for training yet.
type Learning struct {
	Answers   int  // effective and informative ones of all annotators, not held out, that the generation in use has not learnt from
	Untrained bool // the generation in use was not trained from any answer that counts
	Running   bool // a training that learns from such answers is under way, or waits for a worker

	// Of a training under way:
	Waits       bool   // for trainings of other sessions
	Done, Total int    // steps; Total is 0 while they are not known
	Left        string // for people, "about 20 seconds", of a training that learns from all of Answers; empty if that is not known

	Why string // for people, a sentence: why nothing learns from Answers; empty if that is not known or a training is Running
}

// Given is an answer that its annotator can still change.
type Given struct {
	ID          idrl.AnswerID
	Clips       []idrl.ClipID // a and b, or one
	Choice      idrl.Choice
	Rating      float64 // if Choice is Rated
	Much        bool
	Remark      idrl.Remark
	WrongMS     int64     // idrl.Answer.WrongMS
	Best, Worst idrl.Side // clips of a group; only if Choice is BestWorst
	Left        idrl.Side // which clip was on the left; empty for a rating
}

// Effect shows the result of the answers: clips of the policy that was recommended before the first
// one, and of the one that is recommended now.
type Effect struct {
	Before, Now idrl.ClipID // equal if nothing has changed
}

// Held is the posterior of a session at one moment.
type Held struct {
	Seq            int64 // of the last log row in it
	Representation int64 // version of the features that it is about; 0 for those of the environment
	Posterior      idrl.Posterior
}

// Receipt acknowledges a log row that is durable.
type Receipt struct {
	ID     idrl.AnswerID
	Seq    int64
	Replay bool // the same row had been recorded before
}

// Uploaded is the result of an upload.
type Uploaded struct {
	Seq   int64         // of the last row of the log when the clips came into use; of now where all were known
	Clips []idrl.ClipID // of the upload, each once, in its order
	New   []bool        // of each clip: it was not known
	Total int           // clips of the session
}
