package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/study/studyfile"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// Presets keeps settings of sessions under names, for each account, as study files. Errors of kinds
// Conflict and NotFound are in words for people.
type Presets interface {
	SavePreset(ctx context.Context, user, name string, file []byte, now time.Time) error
	Preset(ctx context.Context, user, name string) ([]byte, error)
	Presets(ctx context.Context, user string) ([]string, error)
	DeletePreset(ctx context.Context, user, name string) error
}

const (
	presetsPath = "/presets"
	maxPreset   = 60 // characters of a name
)

// presetURL is the address of the form with a preset.
func presetURL(name string) string { return "/sessions/new?preset=" + url.QueryEscape(name) }

// presetName returns the name of a form's field, or an error of kind Invalid.
func presetName(c echo.Context) (string, error) {
	name := strings.TrimSpace(c.FormValue("preset_name"))
	if name == "" || utf8.RuneCountInString(name) > maxPreset || !idrl.IsLine(name) {
		return "", idrl.Errorf(idrl.Invalid, "a preset needs a name of at most %d printable characters in one line", maxPreset)
	}
	return name, nil
}

// importPreset is POST /presets with the fields preset_name and file: keeps a study file.
func (s launching) importPreset(c echo.Context) error {
	who, err := s.researcher(c, auth.CreateSession, "")
	if err != nil {
		return err
	}
	name, err := presetName(c)
	if err != nil {
		return err
	}
	spec, err := readPreset(name, []byte(strings.ReplaceAll(c.FormValue("file"), "\r\n", "\n")))
	if err != nil {
		return err
	}
	return s.keepPreset(c, who.User, name, spec)
}

// keepPreset keeps complete settings, and leads to the form with them.
func (s launching) keepPreset(c echo.Context, user, name string, spec idrl.SessionSpec) error {
	b, err := studyfile.Write(spec)
	if err != nil {
		return err
	}
	if err := s.cfg.Presets.SavePreset(c.Request().Context(), user, name, b, time.Now()); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, presetURL(name))
}

// deletePreset is POST /presets/delete with the field preset_name.
func (s launching) deletePreset(c echo.Context) error {
	who, err := s.researcher(c, auth.CreateSession, "")
	if err != nil {
		return err
	}
	if err := s.cfg.Presets.DeletePreset(c.Request().Context(), who.User, c.FormValue("preset_name")); err != nil {
		return err
	}
	return s.toNewSession(c)
}

// toNewSession redirects a browser that restores a form's address to the form for a new session.
func (s launching) toNewSession(c echo.Context) error {
	return c.Redirect(http.StatusSeeOther, "/sessions/new")
}

// readPreset returns the complete settings of a study file. It returns an error of kind Invalid if
// the form could not show them.
func readPreset(name string, content []byte) (idrl.SessionSpec, error) {
	file, err := studyfile.Read(name, content)
	if err != nil {
		return idrl.SessionSpec{}, err
	}
	if err := file.Check(func(spec idrl.SessionSpec) error { return settings.Check(settings.Complete(spec)) }); err != nil {
		return idrl.SessionSpec{}, err
	}
	if file.Spec.Instructions != "" && file.Spec.InstructionsFormat != idrl.Markdown {
		return idrl.SessionSpec{}, idrl.Errorf(idrl.Invalid, "the instructions of %s are plain text; this form takes Markdown: set instructions_format to markdown", name)
	}
	return settings.Complete(file.Spec), nil
}

// presetForm returns the form with the preset of an account.
func (s launching) presetForm(c echo.Context, user, name string) (*sessionForm, error) {
	if s.cfg.Presets == nil {
		return nil, idrl.Errorf(idrl.NotFound, "you have no preset %q", name)
	}
	b, err := s.cfg.Presets.Preset(c.Request().Context(), user, name)
	if err != nil {
		return nil, err
	}
	spec, err := readPreset(name, b)
	if err != nil {
		return nil, err
	}
	return formOf(spec), nil
}

// formOf returns the form that asks for a session with the given settings.
func formOf(spec idrl.SessionSpec) *sessionForm {
	f := emptyForm()
	f.who, f.hand = settings.Fits(spec), map[string]bool{}
	f.spec = f.who.Defaults()
	for _, key := range f.who.Differs(spec) {
		s := settings.Get(key)
		if key == "instructions_format" {
			continue
		}
		f.values[key], f.hand[key] = s.Text(spec), isChoice(s)
		s.Copy(&f.spec, spec)
	}
	return f
}

// file returns the settings as a study file: those that a session would have, with the usual title and
// seed if none is given.
func (f *sessionForm) file() ([]byte, error) { return studyfile.Write(f.named()) }

// named returns the complete settings, with the usual title and seed if none is given.
func (f *sessionForm) named() idrl.SessionSpec {
	spec := f.spec
	if s := settings.Get("seed"); s.IsZero(spec) {
		s.Copy(&spec, settings.Defaults())
	}
	return settings.Complete(spec)
}

// export replies with the study file of a form's settings.
func (f *sessionForm) export(c echo.Context) error {
	b, err := f.file()
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="study.yaml"`)
	return c.Blob(http.StatusOK, "application/yaml; charset=utf-8", b)
}

// presetPanel lists the presets of the account that is signed in.
func (s launching) presetPanel(c echo.Context) (p templates.PresetPanel) {
	if s.cfg.Presets == nil {
		return p
	}
	p = templates.PresetPanel{Import: presetsPath, Delete: presetsPath + "/delete", Chosen: c.QueryParam("preset"), Most: maxPreset}
	who, err := s.actor(c.Request().Context(), s.researcherCookie(c))
	if err == nil {
		p.Names, err = s.cfg.Presets.Presets(c.Request().Context(), who.User)
	}
	if err != nil {
		s.log.Warn("presets are not listed", "err", err)
	}
	return p
}
