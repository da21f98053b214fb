package record

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tiebreak/internal/idrl"
)

// Limits of flags.
const (
	MaxFlagNote = 500 // characters of a note
	MaxFlags    = 100 // of one annotator in a session
)

// A Flag is a note of an annotator to the researcher about a question. It is not an answer: the
// question stays open, and nothing is learnt from it. Other annotators never see it.
type Flag struct {
	ID         string // minted by the client, at most 64 characters
	Annotator  idrl.AnnotatorID
	Assignment idrl.AssignmentID // one of theirs
	Query      idrl.QueryID      // of the assignment; set by the store
	Note       string            // 1 to MaxFlagNote characters, as they wrote it
	At         time.Time         // when the server received it
}

// Validate returns an error of kind Invalid that says what to change.
func (f Flag) Validate() error {
	switch n := utf8.RuneCountInString(f.Note); {
	case f.ID == "" || len(f.ID) > 64:
		return idrl.Errorf(idrl.Invalid, "the flag has no id; mint a UUID for it")
	case f.Assignment == "" || len(f.Assignment) > 64:
		return idrl.Errorf(idrl.Invalid, "the flag names no question")
	case strings.TrimSpace(f.Note) == "":
		return idrl.Errorf(idrl.Invalid, "the note is empty; say what is wrong with the question")
	case n > MaxFlagNote:
		return idrl.Errorf(idrl.Invalid, "the note has %d characters; at most %d are kept", n, MaxFlagNote)
	case !utf8.ValidString(f.Note) || strings.ContainsFunc(f.Note, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }):
		return idrl.Errorf(idrl.Invalid, "the note has characters that cannot be shown")
	case !idrl.IsVisible(f.Note):
		return idrl.NotVisible("note")
	}
	return nil
}
