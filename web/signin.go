package web

import (
	"context"
	"net/http"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// signIn is GET /signin?token=…: it asks for a click, so that a program that opens links does not
// use this one up. Without a token it asks for a name and a password.
func (s entry) signIn(c echo.Context) error {
	token := c.QueryParam("token")
	if token == "" {
		if _, err := s.researcher(c, auth.ListSessions, ""); err == nil {
			return c.Redirect(http.StatusSeeOther, "/sessions")
		}
		return render(c, http.StatusOK, templates.SignIn(templates.SignInPage{Layout: s.layout(c, "Sign in"), Action: "/signin"}))
	}
	if _, err := s.cfg.Auth.PeekResearcher(c.Request().Context(), token); err != nil {
		return s.invalidSignIn(c, err)
	}
	p := templates.SignInPage{Layout: s.layout(c, "Sign in"), Action: "/signin", Token: token}
	p.Problems = s.problems(c.Request().Context()) // a person with the link is a researcher
	return render(c, http.StatusOK, templates.SignIn(p))
}

// postSignIn is POST /signin with the field token, of a link, which it uses up, or name and password.
// A login that the browser had before ends.
func (s entry) postSignIn(c echo.Context) error {
	link := c.FormValue("token")
	if link == "" && c.FormValue("password") != "" {
		return s.byPassword(c, strings.TrimSpace(c.FormValue("name")), c.FormValue("password"))
	}
	who, token, err := s.cfg.Auth.RedeemResearcher(c.Request().Context(), link)
	if err != nil {
		return s.invalidSignIn(c, err)
	}
	return s.signedIn(c, who, token)
}

// byPassword signs an account in by its password.
func (s entry) byPassword(c echo.Context, name, password string) error {
	var who auth.Actor
	var token string
	err := accounts(s).guess(c, name, func(ctx context.Context) (err error) {
		who, token, err = s.cfg.Auth.SignInByPassword(ctx, name, password)
		return err
	})
	if kindOf(err) == idrl.Forbidden {
		p := templates.SignInPage{Layout: s.layout(c, "Sign in"), Action: "/signin", Name: name, Error: s.explain(err)}
		return render(c, http.StatusForbidden, templates.SignIn(p))
	}
	if err != nil {
		return err
	}
	return s.signedIn(c, who, token)
}

// signedIn gives the browser of an account its cookie.
func (s entry) signedIn(c echo.Context, who auth.Actor, token string) error {
	ctx := c.Request().Context()
	if old := s.researcherCookie(c); old != "" {
		if err := s.cfg.Auth.SignOut(ctx, old); err != nil {
			return err
		}
	}
	s.setCookie(c, "", who.Role, token)
	logSignIn(s.log, c, who)
	return c.Redirect(http.StatusSeeOther, "/sessions")
}

// invalidSignIn explains why a link does not work. A browser that is signed in continues instead.
func (s entry) invalidSignIn(c echo.Context, err error) error {
	if kindOf(err) == idrl.Unavailable {
		return idrl.Errorf(idrl.Unavailable, "%s The link is not used up.", s.explain(err))
	}
	if kindOf(err) != idrl.NotFound {
		return err
	}
	if _, err := s.researcher(c, auth.ListSessions, ""); err == nil {
		return c.Redirect(http.StatusSeeOther, "/sessions")
	}
	return render(c, http.StatusNotFound, templates.SignIn(templates.SignInPage{
		Layout: s.layout(c, "Sign in"), Action: "/signin",
		Error: s.explain(err) + " " + s.howToSignIn(),
	}))
}

// signOut is POST /signout.
func (s entry) signOut(c echo.Context) error {
	if old := s.researcherCookie(c); old != "" {
		if err := s.cfg.Auth.SignOut(c.Request().Context(), old); err != nil {
			return err
		}
	}
	s.setCookie(c, "", auth.Researcher, "")
	return c.Redirect(http.StatusSeeOther, "/")
}
