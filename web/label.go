package web

import (
	"errors"
	"net/http"
	"strconv"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/static"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// label is GET /sessions/:id/label, the annotator's page. It contains no question; questions come
// over the socket.
func (s labelling) label(c echo.Context) error {
	id, err := sessionID(c)
	if err != nil {
		return err
	}
	who, err := s.labeller(c, auth.Label, id, 1)
	if errors.Is(err, errNotAnnotator) {
		return s.signedOut(c, id)
	}
	if err != nil {
		return err
	}
	session, err := s.session(c.Request().Context(), id)
	if err != nil {
		return err
	}
	is, has, err := s.cfg.People.Consent(c.Request().Context(), id, who.Annotator)
	if err != nil {
		return err
	}
	if is.Awaits(has) {
		return c.Redirect(http.StatusSeeOther, sessionURL(id, "consent"))
	}
	seen, err := s.cfg.People.AcknowledgedInstructions(c.Request().Context(), id, who.Annotator)
	if err != nil {
		return err
	}
	exercises, due, err := s.cfg.Known.Practice(c.Request().Context(), id, who.Annotator)
	if err != nil {
		return err
	}
	spec := session.Spec()
	env := s.env(spec.Env)
	p := templates.LabelPage{
		Layout: s.layout(c, spec.Title), Heading: spec.Title, Session: string(id), Annotator: string(who.Annotator),
		Socket: sessionURL(id, "ws"), Learnt: sessionURL(id, "learnt"), Answers: sessionURL(id, "answers"), Telling: sessionURL(id, "telling"), Flags: sessionURL(id, "flags"),
		Kind: string(spec.Kind), Comparison: spec.Kind.Comparison(), Group: spec.Kind.Group(), Still: spec.Kind.Still(), Verdict: spec.Kind == idrl.JudgeClip,
		Strength: spec.Strength, Remarks: spec.Remarks, Arena: spec.IsArena(),
		Subject: env.StillLabel, Guide: guideOf(spec, env),
		InstructionsVersion: strconv.FormatInt(spec.InstructionsVersion, 10),
		Acknowledged:        strconv.FormatInt(seen, 10), Acknowledge: sessionURL(id, "instructions", "acknowledge"),
	}
	if auth.Can(who, auth.Recall, auth.Object{Session: id}) {
		p.Withdraw = s.withdrawURL(c, id, who.Annotator)
	}
	p.Practice, p.PracticeDue = sessionURL(id, "practice"), len(due) > 0
	if len(exercises) == 0 {
		began, err := s.began(c, session, who.Annotator)
		if err != nil {
			return err
		}
		p.PracticeDue = !began
	}
	p.Scripts = static.Modules("annotate.js")
	if p.Verdict {
		p.Scripts = append(p.Scripts, "judge.js")
	}
	p.User, p.SignOut = "", "" // even if this browser is also signed in as a researcher
	return render(c, http.StatusOK, templates.Label(p))
}

// signedOut says that this browser is not signed in as an annotator of the session, and offers to
// continue to a browser that was.
func (s labelling) signedOut(c echo.Context, id idrl.SessionID) error {
	status, _ := statusOf(errNotAnnotator)
	if s.chargeRefusal(c.Request(), status) {
		return errTooMany
	}
	p := templates.ErrorPage{
		Layout: s.layout(c, "Not signed in"), Status: strconv.Itoa(status), Heading: "You are not signed in here",
		Message: s.explain(errNotAnnotator),
	}
	p.Rejoin = offerRejoin(&p.Layout, id)
	p.User, p.SignOut = "", "" // an annotator's page, even if this browser is also signed in as a researcher
	return render(c, status, templates.Error(p))
}
