package web

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"tiebreak/internal/base/record"
	"tiebreak/internal/data/episodes"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/people/auth"
	"tiebreak/static"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// The pages of a session, by the ends of their addresses; the overview has that of the session.
const (
	overviewPage = "overview"
	learningPage = "learning" // regret, candidates, weights, predictions
	learntPage   = "learnt"   // clips of policies, of what the reward likes, and of what it would ask
	askedPage    = "asked"    // questions, and why they were asked
	peoplePage   = "people"   // pace, links, the people and their answers
	trainingPage = "training"
	dataPage     = "data"     // exports
	settingsPage = "settings" // with what was done by whom
)

// sessionPages lists them as the links on top of each show them.
var sessionPages = []struct{ page, name string }{
	{overviewPage, "Overview"},
	{learningPage, "Learning"},
	{learntPage, "What it learnt"},
	{askedPage, "Questions"},
	{peoplePage, "People"},
	{trainingPage, "Training"},
	{dataPage, "Data"},
	{settingsPage, "Settings"},
}

// pageURL returns the address of a page of a session, to which a place on it may be appended.
func pageURL(id idrl.SessionID, page string) string { return sessionURL(id) + below(page) }

// below is what the address of a page has after that of its session.
func below(page string) string {
	if page == overviewPage {
		return ""
	}
	return "/" + page
}

// sessionTabs are the links to all pages of a session; current is the one on which they stand, or to which its page
// belongs. An arena has one page.
func sessionTabs(spec idrl.SessionSpec, current string) (tabs []templates.Tab) {
	if spec.IsArena() {
		return nil
	}
	for _, p := range sessionPages {
		tabs = append(tabs, templates.Tab{Name: p.name, URL: pageURL(spec.ID, p.page), Current: p.page == current})
	}
	return tabs
}

// dashboard is GET /sessions/:id and the addresses below it of sessionPages: a researcher's page of one session.
func (s watching) dashboard(page string) echo.HandlerFunc {
	return func(c echo.Context) error {
		spec, err := s.researchersSpec(c, auth.WatchSession)
		if err != nil {
			return err
		}
		session, err := s.session(c.Request().Context(), spec.ID)
		if page != overviewPage && (asPaused(err) != nil || err == nil && spec.IsArena()) {
			return c.Redirect(http.StatusSeeOther, sessionURL(spec.ID)) // which is all that there is of it
		}
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
		is := session.Spec()
		is.Tags = spec.Tags // these are not of the session in memory: nothing that it does depends on them
		is.SetCard(spec.Card())
		p, err := s.dashboardPage(c, is, page)
		if err != nil {
			return err
		}
		return render(c, http.StatusOK, templates.Dashboard(p))
	}
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

func (s watching) dashboardPage(c echo.Context, spec idrl.SessionSpec, page string) (p templates.DashboardPage, err error) {
	control, err := running(s).controlPanel(c, spec, page)
	if err != nil {
		return p, err
	}
	method, _ := acquisition.Find(spec.Acquisition) // one that is no longer offered says nothing
	id := spec.ID
	p = templates.DashboardPage{
		Layout: s.layout(c, spec.Title), ID: string(id), Heading: spec.Title, Page: page, Tabs: sessionTabs(spec, page),
		Export: s.may(c, auth.Export, id), Change: control.Change,
		Watch: sessionURL(id, "watch"), Back: "/sessions", Facts: s.facts(spec),
		Reason: method.Why, Names: policyNames(spec), NoPair: method.NoPair, Verdicts: spec.Kind == idrl.JudgeClip,
		InviteURL: sessionURL(id, "invitations"), InstructionsURL: sessionURL(id, "instructions"), KnownURL: sessionURL(id, "known"), QualityURL: sessionURL(id, "quality"),
		LearningURL: pageURL(id, learningPage), LearntURL: pageURL(id, learntPage), Sides: strconv.Itoa(min(2, spec.Kind.Clips())),
		PeopleURL: pageURL(id, peoplePage), DataURL: pageURL(id, dataPage), SettingsURL: pageURL(id, settingsPage),
		Report: sessionURL(id, "report"), Exports: sessionURL(id, "export") + "?format=", Recorded: episodes.About(spec),
		Budget:  templates.BudgetForm{Action: sessionURL(id, "budget"), Value: strconv.Itoa(spec.Budget), Most: strconv.Itoa(idrl.MaxBudget)},
		Control: control, Card: dataCard(spec, control.Change), Conditions: conditionsCard(spec), Questions: sessionURL(id, "questions"), Charts: sessionURL(id, "charts"),
		Network: spec.Model == idrl.NetworkModel, Cancel: sessionURL(id, "training/cancel"), CancelNote: cancelNote(spec),
	}
	p.Scripts, p.Styles = static.Modules("dashboard.js"), []string{"charts.css"}
	if page == peoplePage || page == dataPage {
		p.People, err = s.peoplePanel(c, id)
	}
	if page == dataPage {
		err = cmp.Or(err, s.offerFiles(c.Request().Context(), spec, &p))
	}
	running(s).showLink(c, spec, &p)
	return p, err
}

// offerFiles has the page Data offer the tables and files that hold something in the session.
func (s watching) offerFiles(ctx context.Context, spec idrl.SessionSpec, p *templates.DashboardPage) error {
	for _, t := range chartTables(spec) {
		p.Tables = append(p.Tables, templates.ChartTable{Name: t.name, What: t.what})
	}
	flags, err := s.cfg.Flags.Flags(ctx, spec.ID)
	if err != nil {
		return err
	}
	p.Flagged = len(flags) > 0
	return s.cfg.Known.PracticeAnswers(ctx, spec.ID, func(record.Practice, record.Known) error {
		p.Practised = true
		return nil
	})
}

// policyNames says what the names of policies mean.
func policyNames(spec idrl.SessionSpec) string {
	switch {
	case spec.Uploads():
		return "u3 = the third clip that was uploaded."
	case episodes.About(spec):
		return "g12.p3 = candidate 3 after answer 12, one of the recorded policies. pool.p3 = recorded policy 3. The same policy can be a candidate under several names."
	}
	return "g12.p3 = policy 3, trained after answer 12. pool.p3 = policy 3 of those prepared before the first answer. Names do not change when new candidates arrive."
}

// facts returns the settings of a session, for people.
func (s watching) facts(spec idrl.SessionSpec) []templates.Fact {
	return []templates.Fact{
		{Name: "Environment", Value: s.env(spec.Env).Title},
		{Name: "Question", Value: kindText(spec.Kind)},
		{Name: "Strategy", Value: chosenBy(spec)},
		{Name: "Model", Value: modelText(spec)},
		{Name: "Tags", Value: cmp.Or(spec.Tags, "none")},
		{Name: "Seed", Value: strconv.FormatUint(spec.Seed, 10)},
	}
}
