package record

import (
	"tiebreak/internal/idrl"
)

// ErrWithdrew refuses people who want to join a session from which they have withdrawn their data,
// in words for people.
var ErrWithdrew = idrl.Errorf(idrl.Forbidden, "You have withdrawn your data from this study, so you cannot take part in it again. "+
	"It keeps only a code that was computed from your participant id, so that this page recognises you. "+
	"Please return the task on the platform.")

// Settings are the properties of a session that researchers change while it runs. They are not in
// the log; their effects on the posterior are.
type Settings struct {
	Title   string            // empty: as it is
	State   SessionState      // empty: StateRunning
	Budget  int               // informative answers wanted; 0 for no limit
	Told    idrl.Instructions // what annotators read
	Gold    GoldSettings
	Revoked []idrl.AnnotatorID // who may not answer any more, by ID
	LeftOut []idrl.AnnotatorID // whose answers are to be left out, by ID

	// Turned are the annotators whose answers up to a row of the log are to count turned: the last
	// row when a researcher decided it, then the row in which the log records it.
	Turned map[idrl.AnnotatorID]int64

	Consent     idrl.Consent // what people agree to
	Withdrawals int          // how often the data of a person were withdrawn
}

// GoldSettings say which questions with known answers are hidden among the others, and how
// often.
type GoldSettings struct {
	Every     int     // as SessionSpec.GoldEvery
	Questions []Known // by Version, with Clips
}

// Labelled is a reply with its question, for exports.
type Labelled struct {
	Answer    idrl.Answer
	Query     idrl.Query
	Clips     []idrl.Clip // of Query, in its order, without Media
	Why       Why
	Condition Condition // of the assignment
	Gold      bool      // a gold question: its right answer is known
	GoldRight bool      // it is, as far as GoldKnown
	GoldKnown bool      // the question is still gold, and the reply says something
	Withdrawn bool      // a later row withdraws the reply
	LeftOut   bool      // a researcher wants the annotator's replies left out
	Turned    bool      // a researcher wants the reply to count turned (Answer.Opposite); Answer is as it was given

	// Of a comparison that the answer to a group implies, as exports have it: its number among
	// them, from 1, and the places of its clips in the group. 0 for others.
	Part   int
	Places [2]int
}

// ProbA is that of the answer as it counts.
func (l *Labelled) ProbA() (p float64, ok bool) {
	p, ok = l.Answer.ProbA()
	if l.Turned {
		p = 1 - p
	}
	return p, ok
}

// PictureID names a picture of a session by its content: 16 hexadecimal digits.
type PictureID string

// A Picture is a picture that a researcher has added to the instructions of a session.
type Picture struct {
	ID      PictureID
	Type    string // of its content: "image/png"
	Content []byte
}

// Limits of the pictures of a session.
const (
	MaxPicture  = 300_000 // bytes of one
	MaxPictures = 6
)
