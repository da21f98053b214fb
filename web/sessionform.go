package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/study/settings"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// sessionForm is the form for a new session: the values that were typed, their meaning, and the
// errors.
type sessionForm struct {
	values map[string]string // by field; of settings only what was typed or chosen by hand
	errs   map[string]string // by field, for people
	whole  string            // what is wrong with the form as a whole
	spec   idrl.SessionSpec
	who    settings.Audience // who answers
	hand   map[string]bool   // keys of choices that were made by hand

	unplaced bool   // no place can train the session
	title    string // of the session if none is typed: its environment and the day
}

// formSettings are the settings with a field in the form: all except the format of instructions,
// which is Markdown.
func formSettings() []settings.Setting {
	return slices.DeleteFunc(settings.All(), func(s settings.Setting) bool { return s.Key == "instructions_format" })
}

// FormFields returns the names of the fields of the form.
func FormFields() (out []string) {
	for _, s := range formSettings() {
		out = append(out, s.Key)
	}
	return out
}

// readSessionForm reads the form that a browser sent. What is typed or chosen takes precedence over the
// defaults of who answers, and these over those of all sessions. The seed is drawn unless it
// is given.
func readSessionForm(c echo.Context, catalogue []EnvChoice) *sessionForm {
	f := &sessionForm{values: map[string]string{}, errs: map[string]string{}, hand: map[string]bool{}, who: settings.FindAudience(c.FormValue("who"))}
	f.spec = f.who.Defaults()
	f.spec.Seed = 0
	for key := range strings.SplitSeq(c.FormValue("hand"), ",") {
		f.hand[key] = true
	}
	was := settings.FindAudience(c.FormValue("was")) // whose defaults the page showed
	for _, s := range formSettings() {
		f.take(s, strings.TrimSpace(strings.ReplaceAll(c.FormValue(s.Key), "\r\n", "\n")), was)
	}
	f.takeTime(c)
	for _, p := range settings.Problems(settings.Complete(f.spec)) {
		f.errs[p.Key] = cmp.Or(f.errs[p.Key], continued(p.Text))
	}
	f.checkEnv(catalogue)
	f.nameIt(catalogue)
	f.checkStrategies()
	return f
}

// take takes in the value of a setting. A choice that is as the page showed it, and was not made by
// hand, is none.
func (f *sessionForm) take(s settings.Setting, v string, was settings.Audience) {
	if isChoice(s) && !f.hand[s.Key] && v == was.Default(s) {
		v = ""
	}
	f.hand[s.Key] = isChoice(s) && v != ""
	f.values[s.Key] = v
	if v == "" || s.Depends != "" && len(s.Values) > 0 && v == s.Values[0].Name { // which gives way where there is no such value
		return
	}
	if s.Type() == settings.Number {
		v = strings.ReplaceAll(v, ",", ".")
	}
	if err := s.Give(&f.spec, v); err != nil {
		f.errs[s.Key] = continued(err.Error())
	}
}

// isChoice reports whether the field of a setting is a group of buttons, of which one is always
// chosen.
func isChoice(s settings.Setting) bool {
	return len(s.Values) > 0 || s.Key == "env" || s.Key == "acquisition"
}

// changed reports whether a setting has another value than its default.
func (f *sessionForm) changed(s settings.Setting) bool {
	var usual idrl.SessionSpec
	known := f.who.Default(s)
	if f.values[s.Key] == "" || f.errs[s.Key] != "" || known == "" || s.Set(&usual, known) != nil {
		return f.values[s.Key] != ""
	}
	return s.Text(f.spec) != s.Text(usual)
}

// continued makes a sentence of an error that continues the name of a setting.
func continued(text string) string { return sentence(strings.TrimPrefix(text, ": ")) }

// checkEnv checks that the environment exists, and that a session without uploads shows only
// pictures of the legend.
func (f *sessionForm) checkEnv(catalogue []EnvChoice) {
	i := slices.IndexFunc(catalogue, func(e EnvChoice) bool { return e.ID == f.spec.Env })
	if i < 0 {
		f.errs["env"] = fmt.Sprintf("There is no environment %q. Choose one of: %s.", f.spec.Env, strings.Join(available(catalogue), ", "))
		return
	}
	e := catalogue[i]
	if e.Unavailable != "" {
		f.errs["env"] = fmt.Sprintf("%s %s. Choose another environment.", e.Title, strings.TrimSuffix(e.Unavailable, "."))
	}
	if err := unknownPicture(f.spec.Instructions, e, nil); err != nil && f.errs["instructions"] == "" {
		f.errs["instructions"] = sentence(err.Error()) + " Pictures can be uploaded once the session is made."
	}
}

// nameIt suggests a title.
func (f *sessionForm) nameIt(catalogue []EnvChoice) {
	for _, e := range catalogue {
		if name := e.Title + time.Now().UTC().Format(", 2 January 2006"); e.ID == f.spec.Env && utf8.RuneCountInString(name) <= idrl.MaxTitle {
			f.title = name
		}
	}
}

// available returns the environments that sessions can be made of.
func available(catalogue []EnvChoice) (out []string) {
	for _, e := range catalogue {
		if e.Unavailable == "" {
			out = append(out, e.ID)
		}
	}
	return out
}

// checkStrategies checks that the strategies can choose the questions of the session.
func (f *sessionForm) checkStrategies() {
	if f.errs["kind"] != "" {
		return
	}
	spec := settings.Complete(f.spec)
	names := acquisition.Names(acquisition.LiveFor(spec.Kind))
	known := "Available strategies: " + strings.Join(names, ", ") + "."
	if f.errs["acquisition"] == "" && !slices.Contains(names, spec.Acquisition) {
		f.errs["acquisition"] = acquisition.Title(spec.Acquisition) + " cannot choose questions of this type. " + known
	}
	for _, k := range spec.Controls {
		if f.errs["conditions"] == "" && !slices.Contains(names, k.Strategy) {
			f.errs["conditions"] = fmt.Sprintf("There is no strategy %q for questions of this type. %s", k.Strategy, known)
		}
	}
}

// field returns the field of a setting. options are the choices; nil for a text field.
func (f *sessionForm) field(s settings.Setting, options []templates.Option) templates.SettingField {
	out := templates.SettingField{
		Name: s.Key, Label: s.Label, Hint: sentence(strings.ReplaceAll(s.Words, "`", "") + s.Limits()), Lines: s.Lines,
		Field: templates.Field{Value: f.values[s.Key], Error: f.errs[s.Key], Default: f.defaultText(s)},
		Mode:  map[settings.Is]string{settings.Whole: "numeric", settings.Number: "decimal"}[s.Type()],
		Why:   s.Why(), Changed: f.changed(s),
	}
	out.Usual = out.Default
	if len(s.Values) > 0 {
		out.Usual = s.Title(f.who.Default(s))
	}
	if s.Type() == settings.Word && s.High > 0 {
		out.Most = int(s.High)
	}
	if len(options) > 0 {
		chosen := 0
		for i, o := range options {
			if !o.Disabled && (o.Value == f.who.Default(s) && chosen == 0 || o.Value == f.values[s.Key]) {
				chosen = i
			}
		}
		options[chosen].Selected = true
		out.Options = options
	}
	return out
}

// defaultText returns what an empty field stands for, as people read it.
func (f *sessionForm) defaultText(s settings.Setting) string {
	switch {
	case s.Key == "seed":
		return "drawn at random"
	case s.Key == "title" && f.title != "":
		return f.title
	}
	if of := f.who.Default(s); of != s.Default && of != "" {
		var spec idrl.SessionSpec
		if _ = s.Set(&spec, of); s.Zero != "" && s.IsZero(spec) {
			return of + ": " + s.Zero
		}
		return of
	}
	return s.DefaultText()
}
