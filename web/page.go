package web

import (
	"bytes"
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/study/settings"
	"tiebreak/static"
	"tiebreak/templates"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

// render writes a page. It is rendered completely before it is sent, so that an error can still be
// shown as a page.
func render(c echo.Context, status int, page templ.Component) error {
	var b bytes.Buffer
	if err := page.Render(c.Request().Context(), &b); err != nil {
		return err
	}
	return c.HTMLBlob(status, b.Bytes())
}

// compressed compresses a page that contains no secret, so that its length cannot reveal one.
var compressed = middleware.GzipWithConfig(middleware.GzipConfig{Level: 6, MinLength: 1400})

// layout returns the common parts of every page, with the name of the researcher who is signed in.
func (s *site) layout(c echo.Context, title string) templates.Layout {
	l := templates.Layout{Title: title, Static: static.Base(), Home: "/"}
	who, err := s.actor(c.Request().Context(), s.researcherCookie(c))
	if err == nil && who.Role.Account() {
		l.User, l.SignOut = idrl.VisibleName(who.User), "/signout"
		l.Problems = s.problems(c.Request().Context())
	}
	if id := c.Param("id"); strings.HasPrefix(c.Path(), "/sessions/:id") {
		spec, err := s.cfg.Sessions.Spec(c.Request().Context(), idrl.SessionID(id))
		l.Rehearsal = err == nil && spec.Rehearsal // a session that cannot be read has no page
	}
	return l
}

// sessionURL returns the address of a session, or of something below it.
func sessionURL(id idrl.SessionID, rest ...string) string {
	parts := append([]string{"/sessions", url.PathEscape(string(id))}, rest...)
	return strings.Join(parts, "/")
}

func clipURL(id idrl.SessionID, clip idrl.ClipID) string {
	return sessionURL(id, "clips", url.PathEscape(string(clip)))
}

// lines returns the points of instructions.
func lines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// kindText describes a kind of query, for people.
func kindText(k idrl.QueryKind) string { return settings.Get("kind").Title(string(k)) }

// anyStill is the name of a still of an environment that gives none.
const anyStill = "this moment"

// env returns the environment of a session; its id as title if it is no longer in the catalogue.
func (s *site) env(ref string) EnvChoice {
	id, _, _ := strings.Cut(ref, "@") // a model of a user's own has a version
	if e, ok := s.cfg.Env(id); ok {
		e.StillLabel = cmp.Or(e.StillLabel, anyStill)
		return e
	}
	if id == idrl.RolloutsEnv {
		return EnvChoice{ID: id, Title: "Uploaded clips", StillLabel: anyStill}
	}
	return EnvChoice{ID: id, Title: id, StillLabel: anyStill}
}

// home is GET /.
func (s *site) home(c echo.Context) error {
	if _, err := s.researcher(c, auth.ListSessions, ""); err == nil {
		return c.Redirect(http.StatusSeeOther, "/sessions")
	}
	return render(c, http.StatusOK, templates.Home(templates.HomePage{Layout: s.layout(c, "Welcome"), SignInCommand: s.cfg.SignInCommand}))
}

// signed writes a number with the minus sign − instead of a hyphen.
func signed(v float64, decimals int) string { return words.Signed(v, decimals) }
