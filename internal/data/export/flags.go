package export

import (
	"encoding/json"
	"io"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// FlagsFormat is the name of the export of what annotators told of questions.
const FlagsFormat = "flags"

// flagged is a line of WriteFlags. docs/datasets.md describes the fields.
type flagged struct {
	ID         string            `json:"flag_id"`
	Session    idrl.SessionID    `json:"session_id"`
	Annotator  idrl.AnnotatorID  `json:"annotator_id"`
	Assignment idrl.AssignmentID `json:"assignment_id"`
	Query      idrl.QueryID      `json:"query_id"`
	Note       string            `json:"note"`
	ReceivedAt string            `json:"received_at"`
}

// WriteFlags writes what annotators told of the questions of a session, a line of JSON each.
// The result is a function of the arguments, to the byte.
func WriteFlags(w io.Writer, session idrl.SessionID, list []record.Flag) error {
	out := json.NewEncoder(w)
	for _, f := range list {
		if err := out.Encode(flagged{f.ID, session, f.Annotator, f.Assignment, f.Query, f.Note, stamp(f.At)}); err != nil {
			return err
		}
	}
	return nil
}
