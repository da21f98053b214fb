package web

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/static"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// errNoWithdrawal refuses people who cannot withdraw their data on the page.
var errNoWithdrawal = idrl.Errorf(idrl.Forbidden, "You cannot withdraw your data on this page, or the time to do so is over. Ask the person who gave you the link.")

// withdrawable returns until when a person can withdraw their data themselves, and the title of the
// session. It returns errNoWithdrawal if they cannot.
func (s labelling) withdrawable(c echo.Context, id idrl.SessionID, who idrl.AnnotatorID) (until time.Time, title string, err error) {
	spec, err := s.cfg.Sessions.Spec(c.Request().Context(), id)
	if err != nil {
		return until, "", err
	}
	if spec.WithdrawDays == 0 {
		return until, "", errNoWithdrawal
	}
	a, err := s.cfg.People.Joined(c.Request().Context(), id, who)
	if err != nil {
		return until, "", err
	}
	if until = a.JoinedAt.AddDate(0, 0, spec.WithdrawDays); time.Now().After(until) {
		err = errNoWithdrawal
	}
	return until, spec.Title, err
}

// withdrawURL returns the address at which a person can withdraw their data, empty if they cannot.
func (s labelling) withdrawURL(c echo.Context, id idrl.SessionID, who idrl.AnnotatorID) string {
	if _, _, err := s.withdrawable(c, id, who); err != nil {
		return ""
	}
	return sessionURL(id, "withdraw")
}

// formerOrPresent returns the session of the address and the annotator for which this browser is or was
// signed in: people whose part has ended may withdraw their data, too.
func (s labelling) formerOrPresent(c echo.Context) (idrl.SessionID, idrl.AnnotatorID, error) {
	id, err := sessionID(c)
	if err != nil {
		return "", "", err
	}
	who, err := s.labeller(c, auth.Recall, id, 1)
	if errors.Is(err, errRemoved) {
		if err = errNotAnnotator; !who.Narrow {
			err = s.admit(who, 1)
		}
	}
	return id, who.Annotator, err
}

// withdraw is GET /sessions/:id/withdraw: it asks an annotator whether they are sure.
func (s labelling) withdraw(c echo.Context) error {
	id, who, err := s.formerOrPresent(c)
	if errors.Is(err, errNotAnnotator) {
		return s.signedOut(c, id)
	}
	if err != nil {
		return err
	}
	return s.withdrawPage(c, http.StatusOK, id, who, "")
}

func (s labelling) withdrawPage(c echo.Context, status int, id idrl.SessionID, who idrl.AnnotatorID, wrong string) error {
	until, title, err := s.withdrawable(c, id, who)
	if err != nil {
		return err
	}
	receipt, err := s.cfg.People.Receipt(c.Request().Context(), id, who)
	if err != nil {
		return err
	}
	p := templates.WithdrawPage{
		Layout: s.layout(c, title), Heading: title, Action: sessionURL(id, "withdraw"), Back: sessionURL(id, "label"),
		Annotator: string(who), Receipt: receipt, Until: until.UTC().Format("2 January 2006"), Error: wrong,
	}
	p.User, p.SignOut = "", ""
	return render(c, status, templates.Withdraw(p))
}

// postWithdraw is POST /sessions/:id/withdraw with the field sure, "yes": it erases the annotator's
// data, and redirects to the page that shows the progress. Sending the form again does the same,
// because its first reply may have been lost; its fields annotator and receipt identify the person.
func (s labelling) postWithdraw(c echo.Context) error {
	id, who, err := s.formerOrPresent(c)
	ctx := c.Request().Context()
	if errors.Is(err, errNotAnnotator) {
		if _, unknown := s.cfg.People.Withdrawn(ctx, id, idrl.AnnotatorID(c.FormValue("annotator")), c.FormValue("receipt")); unknown == nil {
			return c.Redirect(http.StatusSeeOther, sessionURL(id, "withdrawn", c.FormValue("annotator"), c.FormValue("receipt")))
		}
	}
	if err != nil {
		return err
	}
	if _, _, err := s.withdrawable(c, id, who); err != nil {
		return err
	}
	if err := sure(c); err != nil {
		if plain(c) {
			return err
		}
		return s.withdrawPage(c, http.StatusBadRequest, id, who, s.explain(err))
	}
	receipt, err := s.cfg.People.Receipt(ctx, id, who)
	if err != nil {
		return err
	}
	if _, err := s.cfg.Settings.Withdraw(ctx, id, who, string(who), time.Now()); err != nil {
		return err
	}
	s.setCookie(c, id, auth.Annotator, "")
	if session, err := s.session(ctx, id); err == nil { // otherwise it follows when it can run
		if err := session.Follow(ctx); err != nil {
			s.log.Error("a session did not follow a withdrawal of data; it does when it starts again", "session", id, "err", err)
		}
	}
	s.Recheck()
	return c.Redirect(http.StatusSeeOther, sessionURL(id, "withdrawn", string(who), receipt))
}

// erasingWait is after how long, in seconds, the page looks again whether data are erased.
const erasingWait = 5

// withdrawn is GET /sessions/:id/withdrawn/:annotator/:receipt: it shows a person who has withdrawn
// their data, and has no login any more, whether they are erased.
func (s labelling) withdrawn(c echo.Context) error {
	id, err := sessionID(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	a, err := s.cfg.People.Withdrawn(ctx, id, idrl.AnnotatorID(c.Param("annotator")), c.Param("receipt"))
	if err != nil {
		return err
	}
	spec, err := s.cfg.Sessions.Spec(ctx, id)
	if err != nil {
		return err
	}
	p := templates.NoticePage{Layout: s.layout(c, spec.Title), Forget: string(id)}
	p.Heading, p.Text = "Your data are erased", "Your answers and your name are no longer in the study, nor in the files and the backups of its server. "+
		"Two things are kept: the times at which answers came, without your name, and, if you came from a crowd platform, a code by which "+
		"this server recognises that your participant id has withdrawn. You can close this page."
	if a.ErasedAt.IsZero() {
		c.Response().Header().Set("Refresh", strconv.Itoa(erasingWait))
		p.Heading, p.Text = "Your data are being erased", "You have withdrawn: the study goes on without your answers and your name, and no longer shows them. "+
			"Files of the server and its backups still hold traces of them, which the server is removing. This takes some seconds, "+
			"and longer while results are being exported. You need not wait. This page checks every few seconds and says when everything is erased. Keep its address if you want to check later."
	}
	p.Scripts = static.Modules("forget.js")
	p.User, p.SignOut = "", ""
	return render(c, http.StatusOK, templates.Notice(p))
}
