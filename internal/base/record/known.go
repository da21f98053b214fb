package record

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tiebreak/internal/idrl"
)

// A Use is the purpose of a Known question.
type Use string

// Uses.
const (
	Unused      Use = "none"     // no longer used; earlier answers keep their mark
	ForPractice Use = "practice" // asked before the first question of a person, with feedback
	AsGold      Use = "gold"     // hidden among the other questions of each person, once
)

// A Known is a question to which a researcher has given the right answer.
type Known struct {
	Version int64       // counts the changes of known questions in a session, from 1
	Query   idrl.Query  // a comparison or a rating
	Clips   []idrl.Clip // of Query, in its order, without Media; nil where they are not needed
	Use     Use
	Choice  idrl.Choice // the right answer: ChoseA, ChoseB or Equal of a comparison, Rated of a rating
	Rating  float64     // the right one, in [-1, 1], if Choice is Rated
	Note    string      // for the annotator, after a practice answer; may be empty
	By      string      // the researcher
	At      time.Time
}

// Limits of known questions.
const (
	MaxKnown    = 500 // in use in a session
	MaxPractice = 8   // of these for practice
	MaxNote     = 300 // characters of a note
)

// RatingTolerance is the largest difference of a rating that counts as right, on −1 to 1: two
// points of the scale from 0 to 10.
const RatingTolerance = 0.4

// DefaultGoldEvery is the default of SessionSpec.GoldEvery.
const DefaultGoldEvery = 20

// Answer returns the right answer as researchers write it: a choice, or a rating from 0 to 10.
func (k Known) Answer() string {
	if k.Choice == idrl.Rated {
		return strconv.FormatFloat(math.Round(50+50*k.Rating)/10, 'g', -1, 64)
	}
	return string(k.Choice)
}

// SetAnswer sets what Answer returns, of a question of that kind. A rating that is no number becomes NaN,
// which Check refuses.
func (k *Known) SetAnswer(kind idrl.QueryKind, text string) {
	if kind.Comparison() {
		k.Choice = idrl.Choice(text)
		return
	}
	k.Choice, k.Rating = idrl.Rated, math.NaN()
	if n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", "."), 64); err == nil {
		k.Rating = n/5 - 1
	}
}

// Check returns an error of kind Invalid that says what to change.
func (k Known) Check() error {
	switch n := utf8.RuneCountInString(k.Note); {
	case !slices.Contains([]Use{Unused, ForPractice, AsGold}, k.Use):
		return idrl.Errorf(idrl.Invalid, "unknown use %q of a question; use practice, gold or none", k.Use)
	case n > MaxNote || !utf8.ValidString(k.Note) || strings.ContainsRune(k.Note, 0):
		return idrl.Errorf(idrl.Invalid, "the explanation must be text of at most %d characters; it has %d", MaxNote, n)
	case !idrl.IsVisible(k.Note):
		return idrl.NotVisible("explanation")
	case !k.Query.Kind.Valid():
		return idrl.Errorf(idrl.Invalid, "unknown query type %q", k.Query.Kind)
	case k.Query.Kind.Group():
		return idrl.Errorf(idrl.Invalid, "questions about groups cannot have a known answer yet; give it to comparisons or ratings")
	case k.Query.Kind.Comparison() && !slices.Contains([]idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal}, k.Choice):
		return idrl.Errorf(idrl.Invalid, "say which clip is better, or that they are equal; got %q", k.Choice)
	case !k.Query.Kind.Comparison() && (k.Choice != idrl.Rated || !(k.Rating >= -1 && k.Rating <= 1)):
		return idrl.Errorf(idrl.Invalid, "say how good the clip is, on the scale of the session")
	}
	return nil
}

// Right reports whether a, a reply to q, is the right answer; ok is false if q is another question,
// or a has no preference. q may name the clips in the other order.
func (k Known) Right(q idrl.Query, a idrl.Answer) (right, ok bool) {
	if q.ID != k.Query.ID || !a.Informative() || len(q.Clips) == 0 {
		return false, false
	}
	if k.Choice == idrl.Rated {
		return math.Abs(a.Rating-k.Rating) <= RatingTolerance+1e-9, a.Choice == idrl.Rated // points of the scale are no exact numbers
	}
	return a.Choice == k.ChoiceIn(q), a.Choice != idrl.Rated
}

// ChoiceIn returns the right choice where the question is asked as q, which may name the
// clips in the other order.
func (k Known) ChoiceIn(q idrl.Query) idrl.Choice {
	swapped := len(q.Clips) == 2 && len(k.Query.Clips) == 2 && q.Clips[0] != k.Query.Clips[0]
	switch {
	case swapped && k.Choice == idrl.ChoseA:
		return idrl.ChoseB
	case swapped && k.Choice == idrl.ChoseB:
		return idrl.ChoseA
	}
	return k.Choice
}

// GoldRight returns for each standing answer to a gold question whether it is right as it counts,
// by the present known answer. Answers without a preference, and answers to questions that are no
// longer gold, have no entry.
func GoldRight(log []idrl.Answer, assignments []Assignment, gold []Known) map[idrl.AnswerID]bool {
	known := map[idrl.QueryID]Known{}
	for _, k := range gold {
		known[k.Query.ID] = k
	}
	asked := map[idrl.AssignmentID]idrl.Query{}
	for _, as := range assignments {
		if as.Gold != 0 {
			asked[as.ID] = as.Query
		}
	}
	out, how := map[idrl.AnswerID]bool{}, Countings(log)
	for a := range EachStanding(log) {
		q, is := asked[a.Assignment]
		if !is {
			continue
		}
		if right, ok := known[q.ID].Right(q, how[a.Annotator].Of(*a)); ok {
			out[a.ID] = right
		}
	}
	return out
}

// A Practice is a person's answer to a practice question. It is not a row of the log: it says
// nothing about the reward.
type Practice struct {
	ID         idrl.AnswerID // minted by the client; unique in the session
	Annotator  idrl.AnnotatorID
	Version    int64 // of the Known that was shown
	Answer     idrl.Answer
	Right      bool // the answer is the researcher's
	Judged     bool // it says something, so that Right does
	ReceivedAt time.Time
}
