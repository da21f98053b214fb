package web

import (
	"net/http"
	"strconv"

	"tiebreak/internal/auth"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// label is GET /sessions/:id/label, the annotator's page. It holds nothing of a
// question; those come over the socket.
func (s *Server) label(c echo.Context) error {
	id, err := sessionID(c)
	if err != nil {
		return err
	}
	who, err := s.annotator(c, auth.Label, id)
	if err != nil {
		return err
	}
	session, err := s.cfg.Sessions.Session(c.Request().Context(), id)
	if err != nil {
		return err
	}
	spec := session.Spec()
	p := templates.LabelPage{
		Layout: s.layout(c, spec.Title), Heading: spec.Title, Session: string(id), Annotator: string(who.Annotator),
		Socket: sessionURL(id, "ws"), Kind: string(spec.Kind), Comparison: spec.Kind.Comparison(), Still: spec.Kind.Still(),
		Subject: s.env(spec.Env).StillLabel, Instructions: lines(spec.Instructions),
		InstructionsVersion: strconv.FormatInt(spec.InstructionsVersion, 10),
	}
	p.User, p.SignOut = "", "" // whoever else this browser is
	return render(c, http.StatusOK, templates.Label(p))
}
