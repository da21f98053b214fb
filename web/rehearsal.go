package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/study/rehearsed"
	"tiebreak/internal/study/settings"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// A Rehearser rehearses studies with simulated people, in sessions apart from those of the server. Errors of kinds Conflict, Invalid and
// NotFound are in words for people.
type Rehearser interface {
	// Rehearse starts a rehearsal for an account and returns its name.
	Rehearse(ctx context.Context, ask Rehearsal, owner string) (name string, err error)
	// Rehearsed returns how far a rehearsal is, and its result.
	Rehearsed(ctx context.Context, name string) (RehearsalState, error)
	// Rehearsals returns the last rehearsals of an account, or of all if it is empty, the newest first, without what was asked and
	// the reports.
	Rehearsals(ctx context.Context, owner string) ([]RehearsalState, error)
	// StopRehearsal ends a rehearsal that is under way.
	StopRehearsal(name string) error
}

// A Rehearsal is a study with the simulated people who take part in it.
type Rehearsal struct {
	Spec     idrl.SessionSpec
	Entrants []Entrant // of an arena; none for a session
	People   int       // who may take part; 0: as many as are needed
	Right    float64   // share of random pairs of clips that each is right about, in (½, 1)
	MedianS  float64   // of the time for an answer, s
	Wage     float64   // of an hour; 0: not told
}

// A RehearsalState is how far a rehearsal is.
type RehearsalState struct {
	Name  string
	Owner string
	Title string // of the study
	Asked Rehearsal
	Began time.Time

	Ended  time.Time // zero while it is under way, and if the server ended before it did
	Says   string    // how far it is; empty if it is not under way
	Wrong  string    // why there is no result, for people; empty if nothing is wrong
	Report rehearsed.Report
}

// interrupted reports whether the server ended before the rehearsal did.
func (r RehearsalState) interrupted() bool { return r.Says == "" && r.Ended.IsZero() }

const (
	rehearsalsPath = "/rehearsals"
	rehearsedRight = 0.8
)

// rehearse is POST /sessions with do=rehearse: it rehearses the session that the form would make.
func (s launching) rehearse(c echo.Context, f *sessionForm, user string) error {
	ask, err := readRehearsal(c, f.number("wage"), f.seconds()/rehearsed.Seconds(time.Second))
	if err == nil && len(f.errs) == 0 {
		ask.Spec = f.drawn()
		if err = settings.Check(ask.Spec); err == nil {
			if err = s.startRehearsal(c, ask, user); err == nil {
				return nil
			}
		}
	}
	if kind := kindOf(err); err != nil && kind != idrl.Invalid && kind != idrl.Conflict {
		return err
	}
	if err != nil {
		f.whole = s.explain(err)
	}
	return render(c, http.StatusBadRequest, templates.NewSession(s.newSessionPage(c, f)))
}

// rehearseArena is POST /arenas with do=rehearse: it rehearses the arena that the form would make.
func (s launching) rehearseArena(c echo.Context, spec idrl.SessionSpec, entrants []Entrant, user string) error {
	wage, err := readWage(c.FormValue("wage"))
	if err != nil {
		return err
	}
	ask, err := readRehearsal(c, wage, rehearsed.SecondsOf(idrl.CompareClips)/rehearsed.Seconds(time.Second))
	if err != nil {
		return err
	}
	ask.Spec, ask.Entrants = spec, entrants
	return s.startRehearsal(c, ask, user)
}

// startRehearsal starts a rehearsal and leads to its page.
func (s launching) startRehearsal(c echo.Context, ask Rehearsal, user string) error {
	if s.cfg.Rehearser == nil {
		return idrl.Errorf(idrl.Conflict, "this server rehearses nothing")
	}
	var name string
	err := s.admitted(c, createWork, func(ctx context.Context) (err error) {
		name, err = s.cfg.Rehearser.Rehearse(ctx, ask, user)
		return err
	})
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, rehearsalsPath+"/"+url.PathEscape(name))
}

// readRehearsal reads who is simulated. Its error is of kind Invalid.
func readRehearsal(c echo.Context, wage, median float64) (Rehearsal, error) {
	ask := Rehearsal{Right: rehearsedRight, Wage: wage, MedianS: median}
	var err error
	if text := strings.TrimSpace(strings.ReplaceAll(c.FormValue("rehearse_right"), ",", ".")); text != "" {
		percent, wrong := strconv.ParseFloat(text, 64)
		if ask.Right = percent / 100; wrong != nil || !(ask.Right > 0.5 && ask.Right < 1) {
			return ask, idrl.Errorf(idrl.Invalid, "simulated people are right about more than 50 and less than 100 per cent of random pairs; got %.100q", text)
		}
	}
	if text := strings.TrimSpace(c.FormValue("rehearse_people")); text != "" {
		if ask.People, err = strconv.Atoi(text); err != nil || ask.People < 1 || ask.People > idrl.MaxBudget {
			return ask, idrl.Errorf(idrl.Invalid, "the number of simulated people must be from 1 to %d; got %.100q", idrl.MaxBudget, text)
		}
	}
	return ask, nil
}

// rehearsal is GET /rehearsals/:name.
func (s launching) rehearsal(c echo.Context) error {
	_, state, err := s.rehearsalOf(c)
	if err != nil {
		return err
	}
	p := templates.RehearsalPage{
		Layout: s.layout(c, "Rehearsal"), Title: state.Title, When: whenRehearsed(state), Says: state.Says, Wrong: state.Wrong, Action: c.Request().URL.EscapedPath(),
		Asked: linesOf(s.askedLines(state.Asked)),
	}
	p.Rehearsal = true
	p.Styles = []string{"rehearsal.css"}
	p.Interrupted = state.interrupted()
	if r := state.Report; !state.Ended.IsZero() && state.Wrong == "" {
		p.Expected, p.Notes, p.Head, p.Rows = r.Title, r.Notes, r.Head, r.Rows
		p.Lines, p.Data = linesOf(r.Lines), linesOf(r.Data)
	}
	if state.Says != "" {
		c.Response().Header().Set("Refresh", "3")
	}
	return render(c, http.StatusOK, templates.Rehearsal(p))
}

// changeRehearsal is POST /rehearsals/:name: it stops a rehearsal, or with do=again starts one of the same.
func (s launching) changeRehearsal(c echo.Context) error {
	who, state, err := s.rehearsalOf(c)
	if err != nil {
		return err
	}
	if c.FormValue("do") == "again" {
		if err := mayEnter(c.Request().Context(), s.site, who, state.Asked.Entrants); err != nil { // which may be shared no longer
			return err
		}
		return s.startRehearsal(c, state.Asked, who.User)
	}
	if err := s.cfg.Rehearser.StopRehearsal(c.Param("name")); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, c.Request().URL.EscapedPath())
}

// rehearsalOf returns the rehearsal of the address, if the account began it or is an admin.
func (s launching) rehearsalOf(c echo.Context) (auth.Actor, RehearsalState, error) {
	who, err := s.researcher(c, auth.CreateSession, "")
	if err != nil {
		return who, RehearsalState{}, err
	}
	missing := idrl.Errorf(idrl.NotFound, "There is no such rehearsal. The server keeps the last ones of each account.")
	if s.cfg.Rehearser == nil {
		return who, RehearsalState{}, missing
	}
	state, err := s.cfg.Rehearser.Rehearsed(c.Request().Context(), c.Param("name"))
	if idrl.KindOf(err) == idrl.NotFound || err == nil && state.Owner != who.User && !seesAllRehearsals(who) {
		return who, RehearsalState{}, missing
	}
	return who, state, err
}

// seesAllRehearsals reports whether an account sees the rehearsals of all accounts.
func seesAllRehearsals(who auth.Actor) bool { return auth.Can(who, auth.ManageAccounts, auth.Object{}) }

func linesOf(lines []rehearsed.Line) (out []templates.RehearsalLine) {
	for _, l := range lines {
		out = append(out, templates.RehearsalLine{Name: l.Name, Value: l.Value, Note: l.Note})
	}
	return out
}

// rehearsalPanel are the fields that say who is simulated, and the last rehearsals of the account that is signed in.
func (s launching) rehearsalPanel(c echo.Context) templates.RehearsalPanel {
	return templates.RehearsalPanel{
		Right: c.FormValue("rehearse_right"), UsualRight: fmt.Sprintf("%.0f", 100*rehearsedRight), People: c.FormValue("rehearse_people"), Last: s.lastRehearsals(c),
	}
}
