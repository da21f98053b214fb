package web

import (
	"net/http"
	"strconv"

	"tiebreak/internal/data/bundle"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/people/auth"
	"tiebreak/static"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// dashboard is GET /sessions/:id, a researcher's page of one session.
func (s watching) dashboard(c echo.Context) error {
	spec, err := s.researchersSpec(c, auth.WatchSession)
	if err != nil {
		return err
	}
	session, err := s.session(c.Request().Context(), spec.ID)
	if cause := asPaused(err); cause != nil {
		return s.paused(c, spec, cause)
	}
	if err == nil && spec.IsArena() {
		return s.arena(c, spec)
	}
	if err != nil {
		return err
	}
	leave, err := s.heavyReply(c, readWork)
	if err != nil {
		return err
	}
	defer leave()
	p, err := s.dashboardPage(c, session.Spec())
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, templates.Dashboard(p))
}

// researchersSession returns the session of the URL if a researcher with that right is signed in.
func (s *site) researchersSession(c echo.Context, action auth.Action) (Session, error) {
	spec, err := s.researchersSpec(c, action)
	if err != nil {
		return nil, err
	}
	return s.session(c.Request().Context(), spec.ID)
}

// researchersSpec returns the settings of the session of the URL, which may be one that cannot run,
// if a researcher with that right is signed in.
func (s *site) researchersSpec(c echo.Context, action auth.Action) (idrl.SessionSpec, error) {
	id, err := sessionID(c)
	if err != nil {
		return idrl.SessionSpec{}, err
	}
	if _, err := s.researcher(c, action, id); err != nil {
		return idrl.SessionSpec{}, err
	}
	spec, err := s.cfg.Sessions.Spec(c.Request().Context(), id)
	if err == nil {
		requestOf(c.Request()).session = id
	}
	return spec, err
}

func (s watching) dashboardPage(c echo.Context, spec idrl.SessionSpec) (templates.DashboardPage, error) {
	people, err := s.peoplePanel(c, spec.ID)
	if err != nil {
		return templates.DashboardPage{}, err
	}
	control, err := running(s).controlPanel(c, spec)
	method, _ := acquisition.Find(spec.Acquisition) // one that is no longer offered says nothing
	p := templates.DashboardPage{
		Layout: s.layout(c, spec.Title), ID: string(spec.ID), Heading: spec.Title,
		Export: s.may(c, auth.Export, spec.ID), Change: control.Change,
		Watch: sessionURL(spec.ID, "watch"), Back: "/sessions", Facts: s.facts(spec),
		Reason: method.Why, NoPair: method.NoPair,
		InviteURL: sessionURL(spec.ID, "invitations"), InstructionsURL: sessionURL(spec.ID, "instructions"), KnownURL: sessionURL(spec.ID, "known"), QualityURL: sessionURL(spec.ID, "quality"),
		ExportJSONL: sessionURL(spec.ID, "export") + "?format=jsonl",
		ExportCSV:   sessionURL(spec.ID, "export") + "?format=csv",
		ExportAll:   sessionURL(spec.ID, "export") + "?format=" + bundle.Format,
		ExportFiles: sessionURL(spec.ID, "export") + "?format=" + export.NetworksFormat,
		Budget:      templates.BudgetForm{Action: sessionURL(spec.ID, "budget"), Value: strconv.Itoa(spec.Budget), Most: strconv.Itoa(idrl.MaxBudget)},
		People:      people, Control: control, Conditions: conditionsCard(spec), Questions: sessionURL(spec.ID, "questions"), Charts: sessionURL(spec.ID, "charts"),
		Network: spec.Model == idrl.NetworkModel, Cancel: sessionURL(spec.ID, "training/cancel"), CancelNote: cancelNote(spec),
	}
	p.Scripts, p.Styles = static.Modules("dashboard.js"), []string{"charts.css"}
	running(s).showLink(c, spec, &p)
	return p, err
}

// facts returns the settings of a session, for people.
func (s watching) facts(spec idrl.SessionSpec) []templates.Fact {
	return []templates.Fact{
		{Name: "Environment", Value: s.env(spec.Env).Title},
		{Name: "Question", Value: kindText(spec.Kind)},
		{Name: "Strategy", Value: chosenBy(spec)},
		{Name: "Model", Value: modelText(spec)},
		{Name: "Seed", Value: strconv.FormatUint(spec.Seed, 10)},
	}
}
