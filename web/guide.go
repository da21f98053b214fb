package web

import (
	"net/http"
	"strconv"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/study/instructions"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// guideOf returns the text for annotators of a session: the researcher's instructions, or the
// environment's guide if there are none; and the environment's legend.
func guideOf(spec idrl.SessionSpec, env EnvChoice) templates.Guide {
	g := withPurpose(env.Guide, spec.Purpose)
	said := spec.Purpose != ""
	switch own := lines(spec.Instructions); {
	case len(own) == 0:
	case spec.InstructionsFormat == idrl.Markdown:
		g.Look, g.HTML = nil, rendered(spec.ID, env, spec.Instructions)
	default:
		g.Look = own
	}
	if len(lines(spec.Instructions)) > 0 && !said { // which say it themselves
		g.Purpose, g.Picture = "", ""
	}
	if g.Purpose == "" && len(g.Look) == 0 && g.HTML == "" {
		g.Purpose = "Decide by what you see. Your own preference is the right answer."
	}
	switch {
	case g.Purpose != "":
		g.Goal = g.Purpose
	case g.HTML != "":
		g.Goal = instructions.Lead(spec.Instructions)
	default:
		g.Goal = g.Look[0]
	}
	return g
}

// withPurpose returns g with a purpose that a researcher chose, by its name or in their own words, and
// with the picture that goes with it.
func withPurpose(g templates.Guide, chosen string) templates.Guide {
	for _, f := range g.Purposes {
		if f.Text == g.Purpose && chosen == "" || f.Name == chosen || f.Text == chosen {
			g.Purpose, g.Picture = f.Text, f.SVG
			return g
		}
	}
	if chosen != "" {
		g.Purpose = chosen
	}
	return g
}

// acknowledge is POST /sessions/:id/instructions/acknowledge with the field version: the
// annotator has read that version. The reply is for scripts.
func (s labelling) acknowledge(c echo.Context) error {
	id, err := sessionID(c)
	if err != nil {
		return err
	}
	who, err := s.labeller(c, auth.Label, id, 1)
	if err != nil {
		return err
	}
	version, err := strconv.ParseInt(c.FormValue("version"), 10, 64)
	if err != nil {
		return idrl.Errorf(idrl.Invalid, "version must be a whole number")
	}
	if err := s.cfg.People.AcknowledgeInstructions(c.Request().Context(), id, who.Annotator, version); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// acknowledged records the version that the form of the join page showed. If that fails, the
// annotator is only shown it again.
func (s labelling) acknowledged(c echo.Context, id idrl.SessionID, who idrl.AnnotatorID) {
	version, err := strconv.ParseInt(c.FormValue("version"), 10, 64)
	if err != nil {
		return // from a page of an earlier version of the program
	}
	if err := s.cfg.People.AcknowledgeInstructions(c.Request().Context(), id, who, version); err != nil {
		s.log.Warn("what an annotator has read is not recorded", "session", id, "annotator", who, "err", err)
	}
}
