package web

import (
	"net/http"
	"strconv"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/study/instructions"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// If a session has a consent text, its annotators get questions only after they agree to the
// version in use: on the join page, or on a page of its own if the text has changed. Questions that
// they already hold may be answered under the version that they agreed to before.

// consentOf returns the part of a page with a consent text; decline is the address for people who
// do not agree.
func consentOf(c idrl.Consent, decline string) templates.Consent {
	if c.Text == "" {
		return templates.Consent{}
	}
	return templates.Consent{HTML: instructions.Render(c.Text, noPictures), Version: strconv.FormatInt(c.Version, 10), Decline: decline}
}

func noPictures(string, string) (string, bool) { return "", false }

// Refusals of forms that ask for consent.
var (
	errNotAgreed  = idrl.Errorf(idrl.Invalid, "To take part, tick the box that says that you agree. If you do not agree, nothing is recorded.")
	errOldConsent = idrl.Errorf(idrl.Invalid, "The consent text has changed. Please read it again.")
)

// agreed returns the version that a form agrees to, which must be the one in use; 0 if the session
// has no consent text.
func agreed(c echo.Context, is idrl.Consent) (int64, error) {
	switch {
	case is.Text == "":
		return 0, nil
	case c.FormValue("agree") != "yes":
		return 0, errNotAgreed
	case c.FormValue("consent_version") != strconv.FormatInt(is.Version, 10):
		return 0, errOldConsent
	}
	return is.Version, nil
}

// consent is GET /sessions/:id/consent: the text to which an annotator must agree before the next
// question.
func (s labelling) consent(c echo.Context) error {
	id, who, err := s.participant(c)
	if err != nil {
		return err
	}
	return s.consentPage(c, http.StatusOK, id, who, "")
}

func (s labelling) consentPage(c echo.Context, status int, id idrl.SessionID, who idrl.AnnotatorID, wrong string) error {
	session, err := s.session(c.Request().Context(), id)
	if err != nil {
		return err
	}
	is, has, err := s.cfg.People.Consent(c.Request().Context(), id, who)
	if err != nil {
		return err
	}
	if !is.Awaits(has) {
		return c.Redirect(http.StatusSeeOther, sessionURL(id, "label"))
	}
	title := session.Spec().Title
	p := templates.ConsentPage{
		Layout: s.layout(c, title), Heading: title, Consent: consentOf(is, sessionURL(id, "declined")),
		Action: sessionURL(id, "consent"), Again: has > 0, Error: wrong,
	}
	p.User, p.SignOut = "", ""
	return render(c, status, templates.ConsentAgain(p))
}

// postConsent is POST /sessions/:id/consent with the fields agree, "yes", and
// consent_version.
func (s labelling) postConsent(c echo.Context) error {
	id, who, err := s.participant(c)
	if err != nil {
		return err
	}
	is, _, err := s.cfg.People.Consent(c.Request().Context(), id, who)
	if err != nil {
		return err
	}
	version, err := agreed(c, is)
	if err == nil && version > 0 {
		err = s.cfg.People.Agree(c.Request().Context(), id, who, version, time.Now())
	}
	if k := kindOf(err); err != nil && (k == idrl.Invalid || k == idrl.Conflict) && !plain(c) {
		return s.consentPage(c, http.StatusBadRequest, id, who, s.explain(err))
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, sessionURL(id, "label"))
}

// declined is GET /join/:token/declined and /sessions/:id/declined: it thanks a person who does not
// agree, and records nothing.
func (s labelling) declined(c echo.Context) error {
	p := templates.NoticePage{Layout: s.layout(c, "Thank you"), Heading: "You do not take part"}
	p.User, p.SignOut = "", ""
	if c.Param("id") == "" {
		p.Text = "Without your consent you are asked no questions, and nothing about you was recorded. Thank you for your time. You can close this page."
		return render(c, http.StatusOK, templates.Notice(p))
	}
	id, who, err := s.participant(c)
	if err != nil {
		return err
	}
	p.Text = "Without your consent you are asked no more questions. The text that you agreed to earlier still applies to the answers that you have given. Thank you for your time. You can close this page."
	p.Back, p.BackText = sessionURL(id, "consent"), "Read the text again"
	if p.More = s.withdrawURL(c, id, who); p.More != "" {
		p.MoreText = "Withdraw my data"
	}
	return render(c, http.StatusOK, templates.Notice(p))
}

// participant returns the session of the address and the annotator for which this browser is signed
// in.
func (s labelling) participant(c echo.Context) (idrl.SessionID, idrl.AnnotatorID, error) {
	id, err := sessionID(c)
	if err != nil {
		return "", "", err
	}
	who, err := s.labeller(c, auth.Label, id, 1)
	return id, who.Annotator, err
}
