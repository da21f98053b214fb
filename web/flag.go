package web

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/templates"
)

// Flags stores the notes of annotators about questions.
type Flags interface {
	AddFlag(ctx context.Context, id idrl.SessionID, f record.Flag) error
	Flags(ctx context.Context, id idrl.SessionID) ([]record.Flag, error)
}

// maxFlag bounds the body of a flag, in bytes: each character of its note may be twelve, as \ud83d\ude00 is.
const maxFlag = 8 << 10

// postFlag is POST /sessions/:id/flags.
func (s labelling) postFlag(c echo.Context) error {
	id, err := sessionID(c)
	if err != nil {
		return err
	}
	who, err := s.labeller(c, auth.Label, id, 1)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(c.Request().Body, maxFlag+1))
	if err != nil {
		return err
	}
	var told struct {
		ID         string            `json:"id"`
		Assignment idrl.AssignmentID `json:"assignment"`
		Note       string            `json:"note"`
	}
	if len(b) > maxFlag || json.Unmarshal(b, &told) != nil {
		return idrl.Errorf(idrl.Invalid, "send a note of at most %d characters about a question", record.MaxFlagNote)
	}
	f := record.Flag{ID: told.ID, Annotator: who.Annotator, Assignment: told.Assignment, Note: told.Note, At: time.Now()}
	if err := s.cfg.Flags.AddFlag(c.Request().Context(), id, f); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// flagRows shows flags; called has the people's names.
func flagRows(list []record.Flag, called map[idrl.AnnotatorID]string) (out []templates.FlagRow) {
	for _, f := range list {
		name := called[f.Annotator]
		if name == "" {
			name = string(f.Annotator)
		}
		out = append(out, templates.FlagRow{Name: name, At: f.At.UTC().Format("2 January 2006 15:04 UTC"), Query: string(f.Query), Note: f.Note})
	}
	return out
}
