package export

import (
	"encoding/json"
	"io"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// PracticeFormat is the name of the export of answers to practice questions.
const PracticeFormat = "practice"

// practised is a line of WritePractice. docs/datasets.md describes the fields.
type practised struct {
	ID          idrl.AnswerID    `json:"practice_id"`
	Session     idrl.SessionID   `json:"session_id"`
	Annotator   idrl.AnnotatorID `json:"annotator_id"`
	Version     int64            `json:"known_version"`
	Query       idrl.QueryID     `json:"query_id"`
	ClipA       idrl.ClipID      `json:"clip_a"`
	ClipB       *idrl.ClipID     `json:"clip_b"`
	Choice      idrl.Choice      `json:"choice"`
	Rating      *float64         `json:"rating"`
	Reason      *string          `json:"reason"`
	Left        *string          `json:"left"`
	RightChoice idrl.Choice      `json:"right_choice"`
	RightRating *float64         `json:"right_rating"`
	Right       *bool            `json:"right"`
	Note        *string          `json:"note"`
	ShownAt     string           `json:"shown_at"`
	ReceivedAt  string           `json:"received_at"`
	ResponseMS  int64            `json:"response_ms"`
	HiddenMS    int64            `json:"hidden_ms"`
	Loops       int64            `json:"loops"`
	Input       *string          `json:"input"`
}

// WritePractice writes an answer of a session to a practice question, as it was then, as a
// line of JSON. The result is a function of the arguments, to the byte.
func WritePractice(w io.Writer, session idrl.SessionID, p record.Practice, k record.Known) error {
	a := p.Answer
	out := practised{
		ID: p.ID, Session: session, Annotator: p.Annotator, Version: p.Version, Query: k.Query.ID, ClipA: k.Query.Clips[0],
		Choice: a.Choice, Rating: unless(a.Choice != idrl.Rated, a.Rating), Reason: unless(a.Reason == "", a.Reason),
		Left: unless(a.Left == "", string(a.Left)), RightChoice: k.Choice, RightRating: unless(k.Choice != idrl.Rated, k.Rating),
		Right: unless(!p.Judged, p.Right), Note: unless(k.Note == "", k.Note), ShownAt: stamp(a.ShownAt), ReceivedAt: stamp(p.ReceivedAt),
		ResponseMS: a.ResponseMS, HiddenMS: a.HiddenMS, Loops: a.Loops, Input: unless(a.Input == "", a.Input),
	}
	if len(k.Query.Clips) == 2 {
		out.ClipB = &k.Query.Clips[1]
	}
	b, err := json.Marshal(out)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// unless returns v, nil if it is absent.
func unless[T any](absent bool, v T) *T {
	if absent {
		return nil
	}
	return &v
}
