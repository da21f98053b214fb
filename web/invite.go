package web

import (
	"net/http"
	"net/url"
	"time"

	"tiebreak/internal/auth"
	"tiebreak/internal/idrl"

	"github.com/labstack/echo/v4"
)

// invite is POST /sessions/:id/invitations with the fields uses and days: it makes
// an annotator link. Only a hash of it is kept, so the session's page, to which it
// leads, shows it this once.
func (s *Server) invite(c echo.Context) error {
	session, err := s.researchersSession(c, auth.Invite)
	if err != nil {
		return err
	}
	uses, err := number(c, "uses", invitationUses, 1, auth.MaxUses)
	if err != nil {
		return err
	}
	days, err := number(c, "days", invitationDays, 1, auth.MaxInvitationDays)
	if err != nil {
		return err
	}
	id := session.Spec().ID
	token, err := s.cfg.Auth.NewInvitation(c.Request().Context(), id, uses, time.Duration(days)*24*time.Hour)
	if err != nil {
		return err
	}
	s.handOver(c, id, token)
	return c.Redirect(http.StatusSeeOther, sessionURL(id))
}

// handOver gives the browser a link's token to bring to the session's page. An
// address would keep it in the browser's history, and in the log of a proxy; a
// cookie of that page's alone goes when it was shown, or after a minute.
func (s *Server) handOver(c echo.Context, id idrl.SessionID, token string) {
	k := &http.Cookie{
		Name: "tb_link_" + string(id), Value: token, Path: sessionURL(id), HttpOnly: true,
		Secure: s.cfg.SecureCookies, SameSite: http.SameSiteStrictMode, MaxAge: 60,
	}
	if token == "" {
		k.MaxAge = -1
	}
	c.SetCookie(k)
}

// handedOver returns the annotator link that the browser brings, empty if it brings
// none, and takes it away.
func (s *Server) handedOver(c echo.Context, id idrl.SessionID) string {
	token := cookie(c, "tb_link_"+string(id))
	if token == "" {
		return ""
	}
	s.handOver(c, id, "")
	if of, err := s.cfg.Auth.PeekInvitation(c.Request().Context(), token); err != nil || of != id {
		return ""
	}
	return s.cfg.Base + "/join/" + token
}

// inviteNote says where an annotator link works, if that is not everywhere. Links
// follow the configuration and never the Host header, which a proxy may change and
// a stranger choose.
func (s *Server) inviteNote() string {
	u, err := url.Parse(s.cfg.Base)
	switch {
	case err != nil || u.Host == "":
		return "Put the address of this site before it."
	case loopback(u.Host):
		return "It works on the server's own machine only. For people elsewhere the server has to be started with --origin " +
			"and the address of the site; \"tiebreak serve --help\" says more."
	}
	return ""
}
