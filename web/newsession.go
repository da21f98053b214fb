package web

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"net/http"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/study/settings"
	"tiebreak/static"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// newSession is GET /sessions/new.
func (s running) newSession(c echo.Context) error {
	if _, err := s.researcher(c, auth.CreateSession, ""); err != nil {
		return err
	}
	f := &sessionForm{values: map[string]string{}}
	return render(c, http.StatusOK, templates.NewSession(s.newSessionPage(c, f)))
}

// createSession is POST /sessions. After an error it shows the form again, with the values, and
// each error next to its field.
func (s running) createSession(c echo.Context) error {
	who, err := s.researcher(c, auth.CreateSession, "")
	if err != nil {
		return err
	}
	f := readSessionForm(c, s.cfg.Catalogue())
	if c.FormValue("do") == "preview" {
		return render(c, http.StatusOK, templates.NewSession(s.previewSession(c, f)))
	}
	spec := settings.Complete(f.spec)
	if len(f.errs) == 0 {
		if spec.Seed == 0 {
			spec.Seed = DrawSeed()
		}
		id, err := s.open(c, spec, who.User, c.FormValue("anyway") == "yes")
		if err == nil {
			return c.Redirect(http.StatusSeeOther, sessionURL(id))
		}
		switch kindOf(err) {
		case idrl.Invalid:
		case idrl.Conflict: // no place can train it
			f.unplaced = true
		default:
			return err
		}
		f.whole = s.explain(err)
	}
	return render(c, http.StatusBadRequest, templates.NewSession(s.newSessionPage(c, f)))
}

// previewSession shows the form with the first page of annotators. It reports only the errors of the
// instructions and the purpose.
func (s running) previewSession(c echo.Context, f *sessionForm) templates.NewSessionPage {
	spec := f.spec
	f.errs = map[string]string{"instructions": f.errs["instructions"], "purpose": f.errs["purpose"]}
	p := s.newSessionPage(c, f)
	if f.errs["instructions"] == "" && f.errs["purpose"] == "" {
		p.Previewed, p.Preview = true, guideOf(spec, s.env(spec.Env))
		p.Title, p.Task = cmp.Or(spec.Title, "Title of the session"), task(settings.Complete(spec))
		p.Scripts = static.Modules("join.js")
	}
	return p
}

// open starts a session of an account if the spec is valid.
func (s running) open(c echo.Context, spec idrl.SessionSpec, owner string, anyway bool) (idrl.SessionID, error) {
	if err := settings.Check(spec); err != nil {
		return "", err
	}
	var id idrl.SessionID
	err := s.admitted(c, createWork, func() (err error) {
		id, err = s.cfg.Sessions.Create(c.Request().Context(), spec, owner, anyway)
		return err
	})
	if err == nil && id == "" {
		err = errors.New("a session was created without an id")
	}
	return id, err
}

// DrawSeed returns a seed that JSON and spreadsheets keep exactly, not 0.
func DrawSeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the process instead
	return 1 + uint64(binary.LittleEndian.Uint32(b[:]))
}

// newSessionPage shows a form with its values and errors.
func (s running) newSessionPage(c echo.Context, f *sessionForm) templates.NewSessionPage {
	p := templates.NewSessionPage{Layout: s.layout(c, "New session"), Action: "/sessions", Cancel: "/sessions", Error: f.whole, Anyway: f.unplaced}
	for _, setting := range formSettings() {
		field := f.field(setting, s.options(setting))
		if setting.Key == "purpose" {
			field.Ready = readyPurposes(s.cfg.Catalogue())
		}
		if setting.Group == "" {
			p.Fields = append(p.Fields, field)
			continue
		}
		at := slices.IndexFunc(p.Groups, func(g templates.FieldGroup) bool { return g.Heading == setting.Group })
		if at < 0 {
			at, p.Groups = len(p.Groups), append(p.Groups, templates.FieldGroup{Heading: setting.Group})
		}
		p.Groups[at].Fields = append(p.Groups[at].Fields, field)
		p.More = p.More || field.Error != ""
	}
	return p
}

// readyPurposes returns the sentences that the environments propose, each with the title of its
// environment.
func readyPurposes(catalogue []EnvChoice) (out []templates.Option) {
	for _, e := range catalogue {
		for _, f := range e.Guide.Purposes {
			out = append(out, templates.Option{Value: f.Text, Hint: e.Title})
		}
	}
	return out
}

// options returns the choices of a setting, the default first or selected; nil for text fields.
func (s running) options(setting settings.Setting) (out []templates.Option) {
	switch setting.Key {
	case "env":
		return envOptions(s.cfg.Catalogue())
	case "acquisition":
		for _, m := range acquisition.Live() {
			out = append(out, templates.Option{Value: m.Name, Label: m.Title, Hint: m.Hint})
		}
	}
	for _, v := range setting.Values {
		out = append(out, templates.Option{Value: v.Name, Label: v.Title, Hint: v.Hint})
	}
	return out
}

// envOptions returns the available environments, and then the others, which cannot be chosen.
func envOptions(catalogue []EnvChoice) []templates.Option {
	var available, missing []templates.Option
	for _, e := range catalogue {
		if e.Unavailable == "" {
			available = append(available, templates.Option{Value: e.ID, Label: e.Title, Hint: e.Description})
		} else {
			missing = append(missing, templates.Option{Value: e.ID, Label: e.Title, Hint: sentence(e.Unavailable), Disabled: true})
		}
	}
	return append(available, missing...)
}
