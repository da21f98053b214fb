package web

import (
	"net/http"
	"strconv"
	"time"

	"tiebreak/internal/auth"
	"tiebreak/internal/idrl"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// An annotator link made on the page lets in this many people for this long.
const (
	invitationUses = 100
	invitationLife = 30 * 24 * time.Hour
)

// dashboard is GET /sessions/:id, a researcher's page of one session.
func (s *Server) dashboard(c echo.Context) error {
	session, err := s.researchersSession(c, auth.WatchSession)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, templates.Dashboard(s.dashboardPage(c, session.Spec())))
}

// researchersSession returns the session of the URL if a researcher who may do
// that is signed in.
func (s *Server) researchersSession(c echo.Context, action auth.Action) (Session, error) {
	id, err := sessionID(c)
	if err != nil {
		return nil, err
	}
	if _, err := s.researcher(c, action, id); err != nil {
		return nil, err
	}
	return s.cfg.Sessions.Session(c.Request().Context(), id)
}

func (s *Server) dashboardPage(c echo.Context, spec idrl.SessionSpec) templates.DashboardPage {
	return templates.DashboardPage{
		Layout: s.layout(c, spec.Title), ID: string(spec.ID), Heading: spec.Title,
		Watch: sessionURL(spec.ID, "watch"), Back: "/sessions", Facts: s.facts(spec),
		Reason: methods[spec.Acquisition].reason, NoPair: methods[spec.Acquisition].pair,
		InviteURL:   sessionURL(spec.ID, "invitations"),
		ExportJSONL: sessionURL(spec.ID, "export") + "?format=jsonl",
		ExportCSV:   sessionURL(spec.ID, "export") + "?format=csv",
	}
}

// facts are what a session is made of, for people.
func (s *Server) facts(spec idrl.SessionSpec) []templates.Fact {
	budget := "no limit"
	if spec.Budget > 0 {
		budget = strconv.Itoa(spec.Budget)
	}
	return []templates.Fact{
		{Name: "Environment", Value: s.env(spec.Env).Title},
		{Name: "Question", Value: kindText(spec.Kind)},
		{Name: "Chosen by", Value: methodText(spec.Acquisition)},
		{Name: "Model", Value: modelText(spec)},
		{Name: "Answers wanted", Value: budget},
		{Name: "Seed", Value: strconv.FormatUint(spec.Seed, 10)},
	}
}

// invite is POST /sessions/:id/invitations: the page with a fresh annotator
// link. The link is shown once; only a hash of it is kept.
func (s *Server) invite(c echo.Context) error {
	session, err := s.researchersSession(c, auth.Invite)
	if err != nil {
		return err
	}
	spec := session.Spec()
	token, err := s.cfg.Auth.NewInvitation(c.Request().Context(), spec.ID, invitationUses, invitationLife)
	if err != nil {
		return err
	}
	p := s.dashboardPage(c, spec)
	p.Invite = s.address(c) + "/join/" + token
	return render(c, http.StatusOK, templates.Dashboard(p))
}

// address returns how this browser reaches the server: "https://host".
func (s *Server) address(c echo.Context) string {
	scheme := "http"
	if s.cfg.SecureCookies || c.Request().TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + c.Request().Host
}
