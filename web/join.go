package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/static"
	"tiebreak/templates"
)

// join is GET /join/:token, an annotator's link.
func (s entry) join(c echo.Context) error {
	p, err := s.joinPage(c)
	if wrongVisit(err) {
		return s.badVisit(c, err)
	}
	if err != nil {
		return s.invalidInvitation(c, err)
	}
	return render(c, http.StatusOK, templates.Join(p))
}

// joinPage describes the questions.
func (s entry) joinPage(c echo.Context) (templates.JoinPage, error) {
	ctx := c.Request().Context()
	v, err := s.visit(c)
	if err != nil {
		return templates.JoinPage{}, err
	}
	id := v.session
	session, err := s.session(ctx, id)
	if err != nil {
		return templates.JoinPage{}, err
	}
	spec := session.Spec()
	env := s.env(spec.Env)
	p := templates.JoinPage{
		Layout: s.layout(c, spec.Title), Heading: spec.Title, Task: task(spec),
		Guide: guideOf(spec, env), Version: strconv.FormatInt(spec.InstructionsVersion, 10), Action: c.Request().URL.RequestURI(),
		Anonymous: v.byCrowd(),
	}
	p.Rehearsal = spec.Rehearsal
	p.User, p.SignOut = "", "" // an annotator's page, even if this browser is also signed in as a researcher
	p.Scripts = static.Modules("join.js")
	if clip, err := exampleClip(s.site, c, id); err != nil {
		return p, err
	} else if clip != "" {
		address := *c.Request().URL
		p.Example = address.JoinPath("example").RequestURI()
	}
	if v.preview {
		p.Action, p.Preview = "", s.explain(errPreview)
		return p, nil
	}
	who, is, err := s.joined(c, v)
	switch {
	case err != nil:
		return templates.JoinPage{}, err
	case is:
		p.Returning = s.welcomeBack(c, id, who)
	default:
		if ended, err := running(s).ended(ctx, id); err != nil || ended && !v.byCrowd() { // a person who came by a crowd link may come back by it
			return p, cmp.Or(err, record.ErrEnded)
		}
		if !v.byCrowd() {
			p.Rejoin = offerRejoin(&p.Layout, id)
		}
		is, _, err := s.cfg.People.Consent(ctx, id, "")
		if err != nil {
			return p, err
		}
		p.Consent = consentOf(is, c.Request().URL.EscapedPath()+"/declined")
		status, err := session.Status(ctx)
		if err != nil {
			return p, err
		}
		if status.Decided || status.Budget > 0 && status.Answers >= status.Budget {
			p.Task += " All questions are answered already, so you would be asked none at present."
		}
	}
	return p, nil
}

// welcomeBack greets an annotator who has joined before.
func (s entry) welcomeBack(c echo.Context, id idrl.SessionID, who auth.Actor) string {
	names, err := s.cfg.People.AnnotatorNames(c.Request().Context(), id)
	if err != nil || names[who.Annotator] == "" || !auth.Can(who, auth.Recall, auth.Object{Session: id}) {
		return "Welcome back. You go on where you stopped."
	}
	return fmt.Sprintf("Welcome back, %s. You go on where you stopped.", names[who.Annotator])
}

// task describes the questions of a session.
func task(spec idrl.SessionSpec) string {
	what := map[idrl.QueryKind]string{
		idrl.CompareClips:  "You see two short clips at a time and say which you prefer.",
		idrl.RateClip:      "You see one short clip at a time and rate it from 0 to 10.",
		idrl.CompareStates: "You see two moments at a time and say which you prefer.",
		idrl.JudgeClip:     "You see one short clip at a time and say whether it succeeds.",
		idrl.GroupClips:    "You see six short clips at a time and pick the best and the worst.",
		idrl.RateState:     "You see one moment at a time and rate it from 0 to 10.",
	}[spec.Kind]
	text := what + " A question takes a few seconds."
	switch {
	case spec.AnswersEach > 0:
		text += fmt.Sprintf(" You are asked for %s answers.", words.Count(spec.AnswersEach))
	case spec.Budget > 0:
		text += fmt.Sprintf(" There are %s questions, shared by all participants.", words.Count(spec.Budget))
	}
	return text
}

// postJoin signs an annotator in. A browser that has joined before keeps its annotator.
func (s entry) postJoin(c echo.Context) error {
	ctx := c.Request().Context()
	v, err := s.visit(c)
	if v.preview {
		err = visitError{errPreview}
	}
	if wrongVisit(err) {
		return s.badVisit(c, err)
	}
	if err != nil {
		return s.invalidInvitation(c, err)
	}
	id := v.session
	switch who, is, err := s.joined(c, v); {
	case err != nil:
		return err
	case is:
		labelling(s).acknowledged(c, id, who.Annotator)
		return c.Redirect(http.StatusSeeOther, sessionURL(id, "label"))
	}
	is, _, err := s.cfg.People.Consent(ctx, id, "")
	if err != nil {
		return err
	}
	version, err := agreed(c, is)
	if err != nil {
		return s.badJoin(c, err, func(p *templates.JoinPage) { p.Agree = s.explain(err) })
	}
	who, key, err := s.redeem(c, v)
	if kindOf(err) == idrl.Invalid && err != nil {
		return s.badJoin(c, err, func(p *templates.JoinPage) { p.Name.Error = s.explain(err) })
	}
	if err != nil {
		return s.invalidInvitation(c, err)
	}
	if who.Role == auth.Removed { // they may withdraw their data in the browser in which they joined
		return errRemoved
	}
	s.setCookie(c, who.Session, who.Role, key)
	logSignIn(s.log, c, who)
	if !who.Narrow { // a person who comes back does not use up the link, and can do so any number of times
		s.welcome(c.Request())
	}
	if version > 0 {
		if err := s.cfg.People.Agree(ctx, who.Session, who.Annotator, version, time.Now()); err != nil && kindOf(err) != idrl.Conflict {
			return err // a conflict: it has changed meanwhile, and the next page asks again
		}
	}
	labelling(s).acknowledged(c, who.Session, who.Annotator)
	return c.Redirect(http.StatusSeeOther, sessionURL(who.Session, "label"))
}

// badJoin shows the page again with an error.
func (s entry) badJoin(c echo.Context, cause error, say func(*templates.JoinPage)) error {
	if plain(c) {
		return cause
	}
	p, err := s.joinPage(c)
	if err != nil {
		return err
	}
	p.Name.Value = c.FormValue("name")
	say(&p)
	return render(c, http.StatusBadRequest, templates.Join(p))
}

// invalidInvitation explains why a link does not work. A browser that has joined continues instead.
func (s entry) invalidInvitation(c echo.Context, err error) error {
	if kindOf(err) != idrl.NotFound || plain(c) {
		return err
	}
	id, unknown := s.cfg.Auth.InvitationSession(c.Request().Context(), c.Param("token"))
	if unknown == nil {
		switch _, err := s.annotator(c, auth.Label, id); {
		case err == nil:
			return c.Redirect(http.StatusSeeOther, sessionURL(id, "label"))
		case errors.Is(err, errRemoved):
			return err
		}
	}
	p := templates.JoinPage{Layout: s.layout(c, "Join"), Heading: "This link does not work", Error: s.explain(err)}
	p.Rejoin = offerRejoin(&p.Layout, id)
	p.User, p.SignOut = "", ""
	return render(c, http.StatusNotFound, templates.Join(p))
}
