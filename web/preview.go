package web

import (
	"bytes"
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/study/settings"
	"tiebreak/static"
	"tiebreak/templates"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
)

// envClip is GET /environments/:env/clips/:n?kind=K: the n-th clip that shows what questions of a type
// are about in an environment, from 1 on.
func (s launching) envClip(c echo.Context) error {
	if _, err := s.researcher(c, auth.CreateSession, ""); err != nil {
		return err
	}
	n, err := strconv.Atoi(c.Param("n"))
	if err != nil || n < 1 || s.cfg.Examples == nil || !plainID(c.Param("env")) {
		return errNoClip
	}
	kind := idrl.QueryKind(cmp.Or(c.QueryParam("kind"), string(idrl.CompareClips)))
	if !kind.Valid() {
		return errNoClip
	}
	clips, err := s.cfg.Examples(c.Request().Context(), c.Param("env"), kind)
	if err != nil {
		return err
	}
	if n > len(clips) {
		return errNoClip
	}
	c.Response().Header().Set("Cache-Control", "private, max-age=600") // the same until the program is another
	return sendClip(c, clips[n-1])
}

// exampleURL returns the address of an example clip; kind is empty for comparisons of clips.
func exampleURL(env string, n int, kind idrl.QueryKind) string {
	address := "/environments/" + url.PathEscape(env) + "/clips/" + strconv.Itoa(n)
	if kind != "" {
		address += "?kind=" + url.QueryEscape(string(kind))
	}
	return address
}

// previewSession shows the form with the pages of annotators. It reports only the errors of the
// instructions and the purpose.
func (s launching) previewSession(c echo.Context, f *sessionForm) templates.NewSessionPage {
	f.errs = map[string]string{"instructions": f.errs["instructions"], "purpose": f.errs["purpose"]}
	p := s.newSessionPage(c, f)
	if f.errs["instructions"] != "" || f.errs["purpose"] != "" {
		return p
	}
	spec := settings.Complete(f.spec)
	spec.Title = cmp.Or(spec.Title, "Title of the session")
	env := s.env(spec.Env)
	for _, page := range []struct {
		name    string
		content templ.Component
	}{
		{"First page", templates.Join(s.firstPage(c, spec, env))},
		{"Question", templates.Label(s.questionPage(c, spec, env))},
	} {
		var b bytes.Buffer
		if err := page.content.Render(c.Request().Context(), &b); err != nil {
			p.Error = s.explain(err)
			return p
		}
		p.Previews = append(p.Previews, templates.Preview{Name: page.name, Page: b.String()})
	}
	if !env.Shown {
		p.NoExample = "Clips of this environment are drawn in sessions only, so that the question shows none."
	}
	return p
}

// annotatorsLayout is the layout of a page of annotators.
func (s launching) annotatorsLayout(c echo.Context, title, script string) templates.Layout {
	l := s.layout(c, title)
	l.Scripts, l.User, l.SignOut = static.Modules(script), "", ""
	return l
}

// firstPage is the first page of annotators of a session that is not made yet. Its form leads nowhere.
func (s launching) firstPage(c echo.Context, spec idrl.SessionSpec, env EnvChoice) templates.JoinPage {
	p := templates.JoinPage{
		Layout: s.annotatorsLayout(c, spec.Title, "join.js"), Heading: spec.Title, Task: task(spec), Guide: guideOf(spec, env), Version: "1", Action: "/sessions/new",
		Anonymous: c.FormValue("who") == settings.Participants,
	}
	if env.Shown {
		p.Example = exampleURL(env.ID, 1, spec.Kind)
	}
	if spec.Consent != "" {
		p.Consent = consentOf(spec.CurrentConsent(), "/sessions/new")
	}
	return p
}

// questionPage is the page of a question of a session that is not made yet, with example clips.
func (s launching) questionPage(c echo.Context, spec idrl.SessionSpec, env EnvChoice) templates.LabelPage {
	p := templates.LabelPage{
		Layout: s.annotatorsLayout(c, spec.Title, "sample.js"), Heading: spec.Title,
		Kind: string(spec.Kind), Comparison: spec.Kind.Comparison(), Group: spec.Kind.Group(), Still: spec.Kind.Still(),
		Strength: spec.Strength, Remarks: spec.Remarks, Subject: env.StillLabel, Guide: guideOf(spec, env), InstructionsVersion: "1", Acknowledged: "1",
	}
	if !env.Shown {
		return p
	}
	samples := make([]string, spec.Kind.Clips())
	for n := range samples {
		samples[n] = exampleURL(env.ID, n+1, spec.Kind)
	}
	p.Sample = strings.Join(samples, " ")
	return p
}
