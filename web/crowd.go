package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/identity"
	"tiebreak/templates"
)

// A visit is a request by a session's link.
type visit struct {
	session idrl.SessionID
	crowd   identity.Crowd // the zero Crowd of other links
	who     record.Participant
	preview bool // of a task that they have not accepted
}

// byCrowd reports whether the link is one from a crowd platform.
func (v visit) byCrowd() bool { return v.crowd.Platform != "" }

// A visitError says what is wrong with the ids of a crowd platform.
type visitError struct{ error }

func (e visitError) Unwrap() error { return e.error }

// wrongVisit reports whether err is a visitError.
func wrongVisit(err error) bool { return errors.As(err, &visitError{}) }

var errPreview = idrl.Errorf(idrl.Invalid, "This is a preview. Accept the task on the platform, then open it again.")

// visit returns the visit of a request by the link of its address. It returns a visitError, in
// words for people, if a crowd platform's ids are wrong, and record.ErrWithdrew if the participant
// has withdrawn their data.
//
// A link into a rehearsal leads nowhere, unless the server is there to rehearse.
func (s entry) visit(c echo.Context) (visit, error) {
	v, err := s.visitOf(c)
	if err != nil || s.cfg.Rehearses {
		return v, err
	}
	spec, err := s.cfg.Sessions.Spec(c.Request().Context(), v.session)
	if err == nil && spec.Rehearsal {
		err = idrl.Errorf(idrl.NotFound, "This link belongs to a rehearsal, in which only simulated people take part.")
	}
	return v, err
}

func (s entry) visitOf(c echo.Context) (v visit, err error) {
	ctx, token := c.Request().Context(), c.Param("token")
	v.session, v.crowd, err = s.cfg.Auth.Crowd(ctx, token)
	if kindOf(err) == idrl.NotFound && err != nil {
		v.session, err = s.cfg.Auth.PeekInvitation(ctx, token)
		return v, err
	}
	if err == nil {
		if v.who, v.preview, err = v.crowd.Read(c.QueryParams()); err != nil {
			return v, visitError{err}
		}
	}
	if err == nil && !v.preview {
		gone, unknown := s.cfg.People.Withdrew(ctx, v.session, v.crowd, v.who)
		if err = unknown; gone {
			err = record.ErrWithdrew
		}
	}
	return v, err
}

// same reports whether the annotator of a browser can be the person of the visit: people from a
// crowd platform share browsers.
func (s entry) same(c echo.Context, v visit, who idrl.AnnotatorID) (bool, error) {
	if !v.byCrowd() {
		return true, nil
	}
	return s.cfg.People.Participates(c.Request().Context(), v.session, who, v.crowd, v.who)
}

// joined returns the annotator for which this browser is signed in, and whether it is the person of
// the visit. It returns errRemoved if a researcher has ended the part of that annotator.
func (s entry) joined(c echo.Context, v visit) (who auth.Actor, is bool, err error) {
	switch who, err = s.annotator(c, auth.Label, v.session); {
	case errors.Is(err, errNotAnnotator):
		return who, false, nil
	case err != nil && !errors.Is(err, errRemoved):
		return who, false, err
	}
	is, unknown := s.same(c, v, who.Annotator)
	if unknown != nil || !is {
		return who, false, unknown
	}
	return who, err == nil, err
}

// redeem signs in the person of a visit; a person whose part a researcher has ended gets no cookie.
func (s entry) redeem(c echo.Context, v visit) (auth.Actor, string, error) {
	if v.byCrowd() {
		return s.cfg.Auth.RedeemParticipant(c.Request().Context(), c.Param("token"), v.who)
	}
	return s.cfg.Auth.Redeem(c.Request().Context(), c.Param("token"), c.FormValue("name"))
}

// badVisit says what is wrong with the ids of a crowd platform.
func (s entry) badVisit(c echo.Context, err error) error {
	if plain(c) {
		return err
	}
	p := templates.JoinPage{Layout: s.layout(c, "Join"), Heading: "This link is not complete", Error: s.explain(err)}
	p.User, p.SignOut = "", ""
	return render(c, http.StatusBadRequest, templates.Join(p))
}
