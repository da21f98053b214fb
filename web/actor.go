package web

import (
	"context"
	"net/http"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/identity"

	"github.com/labstack/echo/v4"
)

// A browser can be a researcher and, in each session, an annotator at once:
// each has a cookie of its own.
func (s *site) cookieName(session idrl.SessionID) string {
	name := "tb_user"
	if session != "" {
		name = "tb_s_" + string(session)
	}
	if s.cfg.SecureCookies {
		return "__Host-" + name
	}
	return name
}

func (s *site) researcherCookie(c echo.Context) string { return cookie(c, s.cookieName("")) }

func (s *site) annotatorCookie(c echo.Context, session idrl.SessionID) string {
	return cookie(c, s.cookieName(session))
}

func cookie(c echo.Context, name string) string {
	if k, err := c.Cookie(name); err == nil {
		return k.Value
	}
	return ""
}

// setCookie keeps the token in the browser. An empty token removes it.
func (s *site) setCookie(c echo.Context, session idrl.SessionID, role auth.Role, token string) {
	k := &http.Cookie{
		Name: s.cookieName(session), Value: token, Path: "/", HttpOnly: true,
		Secure: s.cfg.SecureCookies, SameSite: http.SameSiteLaxMode,
		MaxAge: int(auth.CookieLife(role).Seconds()),
	}
	if token == "" {
		k.MaxAge = -1
	}
	c.SetCookie(k)
}

// actor returns the person or program that holds a cookie; the zero Actor if the cookie is empty.
func (s *site) actor(ctx context.Context, cookie string) (auth.Actor, error) {
	if cookie == "" {
		return auth.Actor{}, nil
	}
	return s.cfg.Auth.Actor(ctx, cookie)
}

// researcher returns the account that is signed in. It returns errNotSignedIn if there is none,
// errNoSession if there is no such session, or none that they may watch, errNotAllowed if they may
// not do the action, or errTooMany.
func (s *site) researcher(c echo.Context, action auth.Action, session idrl.SessionID) (auth.Actor, error) {
	ctx := c.Request().Context()
	who, err := s.actor(ctx, s.researcherCookie(c))
	if err != nil {
		return auth.Actor{}, err
	}
	if !who.Role.Account() { // an annotator's token may be in this cookie
		return auth.Actor{}, errNotSignedIn
	}
	if err := s.allowed(ctx, who, action, session, errNotAllowed); err != nil {
		return auth.Actor{}, err
	}
	q := requestOf(c.Request())
	q.actor, q.who = who.Role, personOf(who)
	q.pass()
	s.heavy.giveWay(c.Request().Context())
	return who, s.admit(who, 1)
}

// allowed returns nil if an actor may do an action, errNoSession if there is no such session or the
// actor may not know that there is, and otherwise forbidden.
func (s *site) allowed(ctx context.Context, who auth.Actor, action auth.Action, session idrl.SessionID, forbidden error) error {
	o, err := s.cfg.Auth.Object(ctx, who, session)
	switch {
	case kindOf(err) == idrl.NotFound:
		return errNoSession
	case err != nil || auth.Can(who, action, o):
		return err
	case session != "" && who.Scope != identity.ScopeLabel && !auth.Can(who, auth.WatchSession, o):
		return errNoSession
	}
	return forbidden
}

// may reports whether an account may do an action in a session that it may watch: for pages that
// offer it.
func (s *site) may(c echo.Context, action auth.Action, session idrl.SessionID) bool {
	ctx := c.Request().Context()
	who, err := s.actor(ctx, s.researcherCookie(c))
	return err == nil && who.Role.Account() && s.allowed(ctx, who, action, session, errNotAllowed) == nil
}

// annotator returns the annotator of a session for which this browser is signed in, also with
// errRemoved if a researcher has ended their part. It returns errNotAnnotator if there is none.
func (s *site) annotator(c echo.Context, action auth.Action, session idrl.SessionID) (auth.Actor, error) {
	who, err := s.actor(c.Request().Context(), s.annotatorCookie(c, session))
	if err != nil {
		return auth.Actor{}, err
	}
	if who.Role == auth.Removed && who.Session == session {
		return who, errRemoved
	}
	if who.Role != auth.Annotator || !auth.Can(who, action, auth.Object{Session: session}) {
		return auth.Actor{}, errNotAnnotator
	}
	q := requestOf(c.Request())
	q.actor, q.who, q.session = who.Role, personOf(who), session
	q.pass()
	return who, nil
}

// labeller is annotator for requests that cost the server work: it charges them to the annotator,
// and may return errTooMany.
func (s *site) labeller(c echo.Context, action auth.Action, session idrl.SessionID, cost float64) (auth.Actor, error) {
	who, err := s.annotator(c, action, session)
	if err == nil {
		err = s.admit(who, cost)
	}
	return who, err
}

// stillMay returns an error if the holder of a cookie no longer has the right for which a socket
// was opened. If the store fails the socket stays open: the right is checked again later.
func (s *site) stillMay(ctx context.Context, cookie string, action auth.Action, session idrl.SessionID) error {
	who, err := s.actor(ctx, cookie)
	if err == nil {
		err = s.allowed(ctx, who, action, session, errNotAllowed)
	}
	if kind := kindOf(err); err != nil && (kind == idrl.Forbidden || kind == idrl.NotFound) {
		return err
	}
	return nil
}

// sessionID returns the session in the URL, or an error of kind NotFound if it
// cannot be one.
func sessionID(c echo.Context) (idrl.SessionID, error) {
	id := c.Param("id")
	if !plainID(id) {
		return "", errNoSession
	}
	return idrl.SessionID(id), nil
}

var errNoSession = idrl.Errorf(idrl.NotFound, "This session does not exist.")

// plainID reports whether id can be part of a URL and of a cookie's name.
func plainID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	for _, r := range id {
		if !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == '-' || r == '_' || r == '.') {
			return false
		}
	}
	return true
}
