package web

import (
	"net/http"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/static"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// A login of an annotator ends after weeks, or when a browser deletes its cookies; unsent answers
// may still be in the browser's storage. The label page therefore keeps a key beside them, with
// which the same browser signs in the same annotator again. Both replies are for scripts.

// rejoinKey is POST /sessions/:id/key with the field key, which the browser holds: it returns a key
// with which the annotator can continue. The key is empty if the old one stays valid.
func (s labelling) rejoinKey(c echo.Context) error {
	id, err := sessionID(c)
	if err != nil {
		return err
	}
	who, err := s.labeller(c, auth.Recall, id, socketCost)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	names, err := s.cfg.People.AnnotatorNames(ctx, id)
	if err != nil {
		return err
	}
	key, err := s.cfg.Auth.RejoinKey(ctx, who, c.FormValue("key"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, keyReply{who.Annotator, names[who.Annotator], key})
}

// keyReply tells a browser which annotator it is, and the key of that one.
type keyReply struct {
	Annotator idrl.AnnotatorID `json:"annotator"`
	Name      string           `json:"name"`
	Key       string           `json:"key"` // empty: the browser's key stays valid
}

// offerRejoin makes a page offer to continue as the same annotator, in a browser that took part in
// a session, or in any session if id is empty.
func offerRejoin(l *templates.Layout, id idrl.SessionID) templates.Rejoin {
	l.Scripts = static.Modules("join.js")
	return templates.Rejoin{Offer: true, Session: string(id)}
}

// rejoin is POST /sessions/:id/rejoin with the field key: it signs this browser in as the key's
// annotator. A login that it had in the session ends.
func (s labelling) rejoin(c echo.Context) error {
	id, err := sessionID(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	who, cookie, err := s.cfg.Auth.Rejoin(ctx, id, c.FormValue("key"))
	if err != nil {
		return err
	}
	if old := s.annotatorCookie(c, id); old != "" {
		if err := s.cfg.Auth.SignOut(ctx, old); err != nil {
			return err
		}
	}
	s.setCookie(c, id, who.Role, cookie)
	logSignIn(s.log, c, who)
	return c.JSON(http.StatusOK, struct {
		Annotator idrl.AnnotatorID `json:"annotator"`
	}{who.Annotator})
}
