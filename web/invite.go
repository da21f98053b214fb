package web

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/identity"
	"tiebreak/templates"
)

// invite is POST /sessions/:id/invitations with the fields uses and days, and those of
// crowdOf for a crowd platform: it makes an annotator link. Only a hash of it is kept, so the page of the session's people, to which it
// leads, shows it this once.
func (s running) invite(c echo.Context) error {
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
	crowd, err := crowdOf(c)
	if err != nil {
		return err
	}
	ctx, life := c.Request().Context(), time.Duration(days)*24*time.Hour
	var token string
	if crowd.Platform != "" {
		token, err = s.cfg.Auth.NewCrowdInvitation(ctx, id, uses, life, crowd)
	} else {
		token, err = s.cfg.Auth.NewInvitation(ctx, id, uses, life)
	}
	if err != nil {
		return err
	}
	s.bringLink(c, id, token)
	return c.Redirect(http.StatusSeeOther, pageURL(id, peoplePage))
}

// crowdOf returns the crowd platform of the link of a form, the zero Crowd if it names none; only
// for another platform than the known ones does the form have names of parameters.
func crowdOf(c echo.Context) (crowd identity.Crowd, err error) {
	platform := c.FormValue("platform")
	if platform == "" {
		return crowd, nil
	}
	if crowd, err = identity.CrowdOf(platform); err != nil {
		return crowd, err
	}
	if platform == "own" {
		for field, dst := range map[string]*string{"participant": &crowd.Participant, "study": &crowd.Study, "submission": &crowd.Submission} {
			*dst = strings.TrimSpace(c.FormValue(field))
		}
	}
	crowd.AsGiven, crowd.Return = c.FormValue("as_given") == "yes", strings.TrimSpace(c.FormValue("return"))
	return crowd, crowd.Check()
}

// bringLink gives the browser a link's token to bring to the session's pages. An address would keep
// it in the browser's history, and in the log of a proxy. A cookie of these alone is removed
// when it was shown, or after a minute.
func (s running) bringLink(c echo.Context, id idrl.SessionID, token string) {
	k := &http.Cookie{
		Name: "tb_link_" + string(id), Value: token, Path: sessionURL(id), HttpOnly: true,
		Secure: s.cfg.SecureCookies, SameSite: http.SameSiteStrictMode, MaxAge: 60,
	}
	if token == "" {
		k.MaxAge = -1
	}
	c.SetCookie(k)
}

// showLink shows the annotator link that the browser brings, if it brings one, and removes it from
// the browser.
func (s running) showLink(c echo.Context, spec idrl.SessionSpec, p *templates.DashboardPage) {
	token := cookie(c, "tb_link_"+string(spec.ID))
	if token == "" {
		return
	}
	s.bringLink(c, spec.ID, "")
	link, says, note := s.cfg.Base+"/join/"+token, "Send this link to the people who answer. Each browser that opens it becomes one annotator.", s.inviteNote()
	of, crowd, err := s.cfg.Auth.Crowd(c.Request().Context(), token)
	if err == nil {
		link += "?" + crowd.Query()
		says = "Enter this address on the platform, which adds its ids to the address. Each person from the platform becomes one annotator."
		if strings.Contains(crowd.Return, "{code}") && spec.CompletionCode == "" {
			note = strings.TrimSpace("The session has no completion code: {code} in the return address will be empty. " + note)
		}
	} else {
		of, err = s.cfg.Auth.PeekInvitation(c.Request().Context(), token)
	}
	if err == nil && of == spec.ID {
		p.Invite, p.InviteSays, p.InviteNote = link, says, note
	}
}

// inviteNote says where an annotator link works, if that is not everywhere. Links follow the
// configuration and never the Host header, which a proxy or an attacker can change.
func (s running) inviteNote() string {
	u, err := url.Parse(s.cfg.Base)
	switch {
	case err != nil || u.Host == "":
		return "Add the address of this site in front of the link."
	case loopback(u.Host):
		return "This link works only on the server's own machine. For people on other machines, start the server with --origin " +
			"and the address of the site; see \"tiebreak serve --help\"."
	}
	return ""
}
