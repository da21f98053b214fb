package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/study/rehearsed"
	"tiebreak/internal/study/settings"
	"tiebreak/static"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// newSession is GET /sessions/new.
func (s launching) newSession(c echo.Context) error {
	who, err := s.researcher(c, auth.CreateSession, "")
	if err != nil {
		return err
	}
	f := emptyForm()
	if name := c.QueryParam("preset"); name != "" {
		if f, err = s.presetForm(c, who.User, name); err != nil {
			return err
		}
	}
	if env := c.QueryParam("env"); slices.Contains(available(s.cfg.Catalogue()), env) {
		f.spec.Env, f.values["env"] = env, env
	}
	return render(c, http.StatusOK, templates.NewSession(s.newSessionPage(c, f)))
}

// createSession is POST /sessions. With do=look it shows the form again with what the values mean, and
// with do=preview also the annotators' page; with do=export it replies with the study file, and with do=save it keeps a preset. After an
// error it shows the form again, with the values, and each error next to its field.
func (s launching) createSession(c echo.Context) error {
	who, err := s.researcher(c, auth.CreateSession, "")
	if err != nil {
		return err
	}
	f := readSessionForm(c, s.cfg.Catalogue())
	switch c.FormValue("do") {
	case "look":
		return render(c, http.StatusOK, templates.NewSession(s.newSessionPage(c, f.asTyped())))
	case "preview":
		return render(c, http.StatusOK, templates.NewSession(s.previewSession(c, f)))
	case "rehearse":
		return s.rehearse(c, f, who.User)
	case "export", "save":
		return s.fileOf(c, f, who.User)
	}
	if len(f.errs) == 0 {
		id, err := s.open(c, f.drawn(), who.User, c.FormValue("anyway") == "yes")
		if err == nil {
			return s.launched(c, id, f.who)
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

// fileOf replies with the study file of a form, or keeps it as a preset.
func (s launching) fileOf(c echo.Context, f *sessionForm, user string) error {
	if len(f.errs) > 0 {
		return render(c, http.StatusBadRequest, templates.NewSession(s.newSessionPage(c, f)))
	}
	if c.FormValue("do") == "export" {
		return f.export(c)
	}
	name, err := presetName(c)
	if err != nil {
		f.whole = s.explain(err)
		return render(c, http.StatusBadRequest, templates.NewSession(s.newSessionPage(c, f)))
	}
	return s.keepPreset(c, user, name, f.named())
}

// launched leads to what comes next with a new session: its link, the form for the link of a crowd
// platform, or that for the token of a program.
func (s launching) launched(c echo.Context, id idrl.SessionID, who settings.Audience) error {
	uses := invitationUses
	switch c.FormValue("who") {
	case settings.Participants:
		return c.Redirect(http.StatusSeeOther, pageURL(id, peoplePage))
	case settings.Programs:
		return c.Redirect(http.StatusSeeOther, tokensPath+"?scope=label&session="+string(id))
	case settings.Alone:
		uses = 1
	case settings.Lab:
	default: // a form without the question
		return c.Redirect(http.StatusSeeOther, sessionURL(id))
	}
	return s.linked(c, id, uses)
}

// linked leads to a new session, with a link for annotators.
func (s launching) linked(c echo.Context, id idrl.SessionID, uses int) error {
	token, err := s.cfg.Auth.NewInvitation(c.Request().Context(), id, uses, invitationDays*24*time.Hour)
	if err != nil {
		return err
	}
	running(s).bringLink(c, id, token)
	return c.Redirect(http.StatusSeeOther, sessionURL(id))
}

// open starts a session of an account if the spec is valid.
func (s launching) open(c echo.Context, spec idrl.SessionSpec, owner string, anyway bool) (idrl.SessionID, error) {
	if err := settings.Check(spec); err != nil {
		return "", err
	}
	var id idrl.SessionID
	err := s.admitted(c, createWork, func(ctx context.Context) (err error) {
		id, err = s.cfg.Sessions.Create(ctx, spec, owner, anyway)
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
func (s launching) newSessionPage(c echo.Context, f *sessionForm) templates.NewSessionPage {
	p := templates.NewSessionPage{Layout: s.layout(c, "New session"), Action: "/sessions", Cancel: "/sessions", Error: f.whole, Anyway: f.unplaced}
	p.Recordings = recordingsLink(s.site)
	p.Scripts, p.Styles = static.Modules("new-session.js"), []string{"new-session.css", "rehearsal.css"}
	catalogue := s.cfg.Catalogue()
	f.nameIt(catalogue)
	for _, setting := range formSettings() {
		field := f.field(setting, s.options(setting))
		switch {
		case setting.Key == "env":
			p.Envs, p.EnvError = envCards(catalogue, f.spec.Env), field.Error
		case setting.Key == "budget":
			p.Budget = field
		case setting.Group == "":
			if setting.Key == "purpose" {
				field.Ready = readyPurposes(catalogue)
				spec := f.spec
				spec.Purpose = ""
				field.Default = PurposeOf(s.env(spec.Env), spec)
			}
			p.What = append(p.What, field)
			if setting.Key == "purpose" { // the instructions come below it, as on the annotators' page
				slices.Reverse(p.What[len(p.What)-2:])
			}
		default:
			p.Groups = grouped(p.Groups, setting.Group, field)
			p.More = p.More || field.Error != ""
			if field.Changed {
				p.Changed++
			}
		}
	}
	for _, a := range settings.Audiences() {
		p.Who = append(p.Who, templates.Option{Value: a.Name, Label: a.Title, Hint: a.Hint, Selected: a.Name == f.who.Name})
	}
	p.Was, p.Hand, p.Sets, p.Then = f.who.Name, f.byHand(), f.who.Says(), f.who.Then
	p.Presets, p.Rehearse = s.presetPanel(c), s.rehearsalPanel(c)
	var kept rehearsed.Table
	if s.cfg.Rehearsals != nil {
		kept = s.cfg.Rehearsals()
	}
	p.HowMuch = f.howMuch(s.env(f.spec.Env), kept, s.cfg.RehearsalsFile)
	return p
}

// grouped appends a field to the group with that heading, which it adds if need be.
func grouped(groups []templates.FieldGroup, heading string, field templates.SettingField) []templates.FieldGroup {
	at := slices.IndexFunc(groups, func(g templates.FieldGroup) bool { return g.Heading == heading })
	if at < 0 {
		at, groups = len(groups), append(groups, templates.FieldGroup{Heading: heading})
	}
	groups[at].Fields = append(groups[at].Fields, field)
	return groups
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
func (s launching) options(setting settings.Setting) (out []templates.Option) {
	if setting.Key == "acquisition" {
		for _, m := range acquisition.Live() {
			out = append(out, templates.Option{Value: m.Name, Label: m.Title, Hint: m.Hint})
		}
	}
	for _, v := range setting.Values {
		out = append(out, templates.Option{Value: v.Name, Label: v.Title, Hint: v.Hint})
	}
	return out
}

// envCards returns the available environments, and then the others, which cannot be chosen. The chosen
// one is selected; the first available one if it is none of them.
func envCards(catalogue []EnvChoice, chosen string) []templates.EnvCard {
	var available, missing []templates.EnvCard
	for _, e := range catalogue {
		card := templates.EnvCard{Option: templates.Option{Value: e.ID, Label: e.Title, Hint: e.Description}, Runs: e.Runs, Own: e.Own}
		if e.Unavailable != "" {
			card.Hint, card.Disabled = sentence(e.Unavailable), true
			missing = append(missing, card)
			continue
		}
		if card.Selected = e.ID == chosen; e.Shown {
			card.Clip = exampleURL(e.ID, 1, "")
		}
		available = append(available, card)
	}
	if len(available) > 0 && !slices.ContainsFunc(available, func(e templates.EnvCard) bool { return e.Selected }) {
		available[0].Selected = true
	}
	// Own ones come first: who has imported recordings looks for them.
	slices.SortStableFunc(available, func(a, b templates.EnvCard) int { return cmp.Compare(place(a), place(b)) })
	return append(available, missing...)
}

// place orders cards of environments.
func place(e templates.EnvCard) int {
	if e.Own {
		return 0
	}
	return 1
}

// emptyForm is the form before anything is typed, for somebody who tries the program alone.
func emptyForm() *sessionForm {
	f := &sessionForm{values: map[string]string{}, errs: map[string]string{}, hand: map[string]bool{}, who: settings.Audiences()[0]}
	f.spec = f.who.Defaults()
	return f
}

// asTyped is f before it is sent off: without the errors of what was not typed yet.
func (f *sessionForm) asTyped() *sessionForm {
	for key := range f.errs {
		if f.values[key] == "" {
			delete(f.errs, key)
		}
	}
	return f
}

// byHand lists the choices that were made by hand, for the form's field of that name.
func (f *sessionForm) byHand() string {
	var keys []string
	for key, is := range f.hand {
		if is && key != "" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return strings.Join(keys, ",")
}

// drawn returns the complete settings of the session, with the suggested title, a seed, and for participants a completion
// code, unless they were given.
func (f *sessionForm) drawn() idrl.SessionSpec {
	spec := settings.Complete(f.spec)
	if f.values["title"] == "" && f.title != "" {
		spec.Title = f.title
	}
	if spec.Seed == 0 {
		spec.Seed = DrawSeed()
	}
	if f.who.Name == settings.Participants && spec.CompletionCode == "" {
		spec.CompletionCode = rand.Text()[:8]
	}
	return spec
}
