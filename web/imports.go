package web

import (
	"context"
	"net/http"
	"strings"
	"time"

	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/static"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// An Importer imports data sets that lie in folders which the operator of the server has allowed, or that were uploaded. Errors of kinds Conflict, Invalid and
// NotFound are in words for people.
type Importer interface {
	// Allows reports whether there is such a folder.
	Allows() bool
	// Recordings lists the data sets below these folders, and uploaded ones of an account, or of all if it is empty; more says that there are others.
	Recordings(ctx context.Context, owner string) (list []recordings.Found, more bool, err error)
	// PlanImport returns what an import is going to read, and what it takes.
	PlanImport(ctx context.Context, ask ImportAsk) ([]string, error)
	// StartImport begins an import for an account. It goes on in the background, in a turn. One that was interrupted goes on where it was.
	StartImport(ctx context.Context, ask ImportAsk, owner string, turn ImportTurn) error
	// Imports returns the last imports of an account, or of all if it is empty, the newest first.
	Imports(owner string) ([]ImportState, error)
	// StopImport ends an import that is under way; it can go on later.
	StopImport(name string) error
	// ForgetImport removes what is left of one that was interrupted.
	ForgetImport(name string) error

	uploader
}

// An ImportTurn waits until heavy work may begin in the background. pause is called between its pieces, leave at its end.
type ImportTurn func(ctx context.Context) (pause, leave func(), err error)

// An ImportAsk says what is imported.
type ImportAsk struct {
	Set    string            `json:"set"`    // recordings.Found.Name
	Values map[string]string `json:"values"` // of recordings.NameFields and LeRobotFields, by Field.Key

	Sees string `json:"-"` // account whose uploads it may read; empty: all
}

// Name returns the name of the environment without its prefix.
func (a ImportAsk) Name() string { return strings.TrimSpace(a.Values["name"]) }

// Config returns the settings of the import, without folders. It returns an error of kind Invalid if a value cannot be.
func (a ImportAsk) Config() (c recordings.LeRobotConfig, err error) {
	for _, f := range importFields() {
		if err := f.Set(&c, a.Values[f.Key()]); err != nil {
			return c, err
		}
	}
	if c.Name == "" {
		return c, idrl.Errorf(idrl.Invalid, "give the recordings a name: lower-case letters, digits and hyphens")
	}
	return c, nil
}

func importFields() []recordings.Field {
	return append(recordings.NameFields(), recordings.LeRobotFields()...)
}

// An ImportState is how far an import is.
type ImportState struct {
	Ask   ImportAsk
	Owner string
	Began time.Time
	Plan  []string

	Ended time.Time // zero while it is under way, and if the server ended before it did
	Says  string    // how far it is; empty if it is not under way
	Wrong string    // why there is no result; empty if there is one
	Again bool      // it was interrupted, and can go on
}

// importing is for researchers who import recordings.
type importing struct{ *site }

const recordingsPath = "/recordings"

// importWork is that of an import in the background: a process of its own, so that the memory of the server is the progress alone.
var importWork = work{bytes: 8 << 20, waits: 90, busy: errHeavy}

// importTurn is the turn of an import. It is counted apart from the pages of who began it.
func (s importing) importTurn(owner string) ImportTurn {
	return func(ctx context.Context) (pause, leave func(), err error) {
		t, err := s.heavy.enter(ctx, person{role: "import", id: owner}, importWork)
		if err != nil {
			return nil, nil, err
		}
		return func() {
			t.share(ctx)
			s.heavy.giveWay(ctx)
		}, t.leave, nil
	}
}

// importer returns the account that is signed in, if it may import.
func (s importing) importer(c echo.Context) (owner string, err error) {
	who, err := s.researcher(c, auth.CreateSession, "")
	if err == nil && s.cfg.Importer == nil {
		err = idrl.Errorf(idrl.NotFound, "This server imports no recordings.")
	}
	return who.User, err
}

// recordings is GET /recordings.
func (s importing) recordings(c echo.Context) error {
	if _, err := s.importer(c); err != nil {
		return err
	}
	return s.showRecordings(c, http.StatusOK, ImportAsk{Set: c.QueryParam("set"), Values: map[string]string{"episodes_csv": c.QueryParam("episodes_csv")}}, nil, nil)
}

// postRecordings is POST /recordings with do=check, import, stop or forget.
func (s importing) postRecordings(c echo.Context) error {
	owner, err := s.importer(c)
	if err != nil {
		return err
	}
	ask := ImportAsk{Set: c.FormValue("set"), Values: map[string]string{}}
	for _, f := range importFields() {
		ask.Values[f.Key()] = c.FormValue(f.Key())
	}
	who, err := s.actor(c.Request().Context(), s.researcherCookie(c))
	if err != nil {
		return err
	}
	ask.Sees = seesOf(who)
	switch do := c.FormValue("do"); do {
	case "stop", "forget":
		if err := s.changeImport(c, do, ask.Name()); err != nil {
			return err
		}
	case "discard":
		if err := s.discard(who, c.FormValue("upload")); err != nil {
			return err
		}
	case "import", "continue":
		if do == "continue" {
			if ask, err = s.interrupted(who, ask.Name()); err != nil {
				return err
			}
		}
		if err := s.startImport(c.Request().Context(), ask, owner); err != nil {
			return s.refusedImport(c, ask, err)
		}
	default:
		plan, err := s.planImport(c, ask)
		if err != nil {
			return s.refusedImport(c, ask, err)
		}
		return s.showRecordings(c, http.StatusOK, ask, plan, nil)
	}
	return c.Redirect(http.StatusSeeOther, recordingsPath)
}

// refusedImport shows the form with an error of a person.
func (s importing) refusedImport(c echo.Context, ask ImportAsk, err error) error {
	if kind := kindOf(err); kind != idrl.Invalid && kind != idrl.Conflict {
		return err
	}
	return s.showRecordings(c, http.StatusBadRequest, ask, nil, err)
}

// planImport tells what an import takes.
func (s importing) planImport(c echo.Context, ask ImportAsk) (plan []string, err error) {
	if _, err := ask.Config(); err != nil {
		return nil, err
	}
	err = s.admitted(c, readWork, func(ctx context.Context) (err error) {
		plan, err = s.cfg.Importer.PlanImport(ctx, ask)
		return err
	})
	return plan, err
}

func (s importing) startImport(ctx context.Context, ask ImportAsk, owner string) error {
	if _, err := ask.Config(); err != nil {
		return err
	}
	return s.cfg.Importer.StartImport(ctx, ask, owner, s.importTurn(owner))
}

// importsOf lists the imports that the sender of a request may see and change: their own, or all for an admin and a program without an account.
func (s importing) importsOf(who auth.Actor) ([]ImportState, error) {
	return s.cfg.Importer.Imports(seesOf(who))
}

// seesOf returns the account whose imports and uploads the sender of a request may see and change: their own, or all if it is empty.
func seesOf(who auth.Actor) string {
	if seesAllRehearsals(who) {
		return ""
	}
	return who.User
}

// importOf returns one of them by its name, or an error of kind NotFound.
func (s importing) importOf(who auth.Actor, name string) (state ImportState, err error) {
	list, err := s.importsOf(who)
	for _, i := range list {
		if i.Ask.Name() == name {
			return i, nil
		}
	}
	if err == nil {
		err = idrl.Errorf(idrl.NotFound, "There is no such import.")
	}
	return state, err
}

// changeImport stops or forgets one.
func (s importing) changeImport(c echo.Context, do, name string) error {
	who, err := s.actor(c.Request().Context(), s.researcherCookie(c))
	if err == nil {
		_, err = s.importOf(who, name)
	}
	switch {
	case err != nil:
		return err
	case do == "stop":
		return s.cfg.Importer.StopImport(name)
	}
	return s.cfg.Importer.ForgetImport(name)
}

// interrupted returns what an import was asked for that can go on.
func (s importing) interrupted(who auth.Actor, name string) (ImportAsk, error) {
	state, err := s.importOf(who, name)
	if err == nil && !state.Again {
		err = idrl.Errorf(idrl.Conflict, "this import was not interrupted")
	}
	state.Ask.Sees = seesOf(who)
	return state.Ask, err
}

// showRecordings shows the page, with the values of its form.
func (s importing) showRecordings(c echo.Context, status int, ask ImportAsk, plan []string, wrong error) error {
	who, err := s.actor(c.Request().Context(), s.researcherCookie(c))
	if err != nil {
		return err
	}
	p := templates.RecordingsPage{Layout: s.layout(c, "Import recordings"), Action: recordingsPath, Allowed: s.cfg.Importer.Allows(), Plan: plan}
	p.Styles, p.Scripts = []string{"recordings.css"}, static.Modules("recordings.js")
	if wrong != nil {
		p.Error = plainCode(s.explain(wrong))
	}
	states, err := s.importsOf(who)
	if err != nil {
		return err
	}
	for _, i := range states {
		p.Imports = append(p.Imports, importRow(i, who.User))
		p.Busy = p.Busy || i.Says != ""
	}
	if err := s.admitted(c, readWork, func(ctx context.Context) error { return s.showUploads(ctx, &p, who) }); err != nil {
		return err
	}
	if !p.Busy {
		err := s.admitted(c, readWork, func(ctx context.Context) (err error) {
			list, more, err := s.cfg.Importer.Recordings(ctx, seesOf(who))
			p.Sets, p.More = setRows(list, ask.Set), more
			return err
		})
		if err != nil {
			return err
		}
		for i, f := range importFields() {
			field := templates.ImportField{Name: f.Key(), Label: f.Label, Hint: sentence(f.Hint()), Value: ask.Values[f.Key()], Most: f.Most, Number: f.Number}
			if f.Name == "episodes-csv" {
				field.Hint += " It is named as data sets are: robots/pick.csv."
			}
			if i < len(recordings.NameFields()) {
				p.Names = append(p.Names, field)
				continue
			}
			p.Fields = append(p.Fields, field)
			p.Open = p.Open || field.Value != ""
		}
	}
	return render(c, status, templates.Recordings(p))
}

// bySomebody names the account of an import or upload, unless it is the one that reads; programs may have none.
func bySomebody(owner, user string) string {
	switch owner {
	case user:
		return ""
	case "":
		return ", by a program"
	}
	return ", by " + owner
}

func setRows(list []recordings.Found, chosen string) (out []templates.ImportSet) {
	for _, f := range list {
		row := templates.ImportSet{Name: f.Name, Says: summaryText(f), Chosen: f.Name == chosen && f.Wrong == ""}
		if f.Wrong != "" {
			row.Wrong = plainCode(f.Wrong)
		}
		out = append(out, row)
	}
	if len(out) == 1 && chosen == "" { // no choice is left
		out[0].Chosen = out[0].Wrong == ""
	}
	return out
}

func importRow(i ImportState, user string) templates.ImportRow {
	row := templates.ImportRow{Name: i.Ask.Name(), Set: i.Ask.Set, Says: i.Says, Plan: i.Plan, Wrong: plainCode(i.Wrong), Again: i.Again, When: "Begun " + clock(i.Began)}
	if !i.Ended.IsZero() {
		row.When += ", ended " + clock(i.Ended)
	}
	row.When += bySomebody(i.Owner, user) + "."
	if i.Says == "" && i.Wrong == "" && !i.Again {
		row.Env = recordings.IDPrefix + row.Name
	}
	return row
}

// recordingsLink returns the URL of the page; empty if there is none.
func recordingsLink(s *site) string {
	if s.cfg.Importer == nil {
		return ""
	}
	return recordingsPath
}
