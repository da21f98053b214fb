package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"

	"github.com/labstack/echo/v4"
)

// Defaults of an annotator link made on the page.
const (
	invitationUses = 100
	invitationDays = 30
)

// Places of the session's pages, and pages, to which forms return.
const (
	atBudget   = "/" + settingsPage + "#budget"
	atTraining = "/" + trainingPage + "#training"
	atLinks    = "/" + peoplePage + "#links"
	atPeople   = "/" + peoplePage + "#people"
	atQuality  = "/quality"
)

// setBudget is POST /sessions/:id/budget with the field budget: how many answers the
// session wants.
func (s running) setBudget(c echo.Context) error {
	return s.change(c, auth.ChangeSession, atBudget, func(ctx context.Context, id idrl.SessionID, who string) error {
		n, err := number(c, "budget", 0, 0, idrl.MaxBudget)
		if err != nil {
			return err
		}
		return s.cfg.Settings.SetBudget(ctx, id, n, who, time.Now())
	})
}

// revokeInvitation is POST /sessions/:id/invitations/:link/revoke.
func (s running) revokeInvitation(c echo.Context) error {
	return s.change(c, auth.Invite, atLinks, func(ctx context.Context, id idrl.SessionID, who string) error {
		link, err := strconv.ParseInt(c.Param("link"), 10, 64)
		if err != nil {
			return idrl.Errorf(idrl.NotFound, "this session has no such link")
		}
		return s.cfg.Settings.RevokeInvitation(ctx, id, link, who, time.Now())
	})
}

// removeAnnotator is POST /sessions/:id/annotators/:annotator/remove with the field
// answers, "count" or "leave out".
func (s running) removeAnnotator(c echo.Context) error {
	return s.change(c, auth.Remove, atPeople, func(ctx context.Context, id idrl.SessionID, who string) error {
		how, err := decision(c, "count", "leave out")
		if err != nil {
			return err
		}
		return s.cfg.Settings.RevokeAnnotator(ctx, id, idrl.AnnotatorID(c.Param("annotator")), how == idrl.LeftOut, who, time.Now())
	})
}

// countAnnotator is POST /sessions/:id/annotators/:annotator/answers with the field
// answers, "count", "turn" or "leave out", and back, "quality" on the page of that name.
func (s running) countAnnotator(c echo.Context) error {
	back := atPeople
	if c.FormValue("back") == "quality" {
		back = atQuality
	}
	return s.change(c, auth.Remove, back, func(ctx context.Context, id idrl.SessionID, who string) error {
		how, err := decision(c, "count", "turn", "leave out")
		if err != nil {
			return err
		}
		return s.cfg.Settings.DecideAnswers(ctx, id, idrl.AnnotatorID(c.Param("annotator")), how, who, time.Now())
	})
}

// eraseAnnotator is POST /sessions/:id/annotators/:annotator/withdraw with the field sure, "yes":
// it erases a person's data.
func (s running) eraseAnnotator(c echo.Context) error {
	return s.change(c, auth.Remove, atPeople, func(ctx context.Context, id idrl.SessionID, who string) error {
		if err := sure(c); err != nil {
			return err
		}
		_, err := s.cfg.Settings.Withdraw(ctx, id, idrl.AnnotatorID(c.Param("annotator")), who, time.Now())
		return err
	})
}

// sure returns an error unless the box "I am sure" was ticked.
func sure(c echo.Context) error {
	if c.FormValue("sure") != "yes" {
		return idrl.Errorf(idrl.Invalid, "Tick the box that says that you are sure. Nothing was erased.")
	}
	return nil
}

// decision reads how answers are to count, one of the words of a form.
func decision(c echo.Context, words ...string) (idrl.Choice, error) {
	word := c.FormValue("answers")
	if !slices.Contains(words, word) {
		return "", idrl.Errorf(idrl.Invalid, "say how the answers count, one of %q; got %q", words, word)
	}
	return map[string]idrl.Choice{"count": idrl.TakenIn, "turn": idrl.Turned, "leave out": idrl.LeftOut}[word], nil
}

// number reads a field that is a whole number from least to most; fallback if it is
// empty and fallback is not 0.
func number(c echo.Context, field string, fallback, least, most int) (int, error) {
	text := strings.TrimSpace(c.FormValue(field))
	if text == "" && fallback != 0 {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, idrl.Errorf(idrl.Invalid, "%s must be a whole number from %d to %d; go back and change it", field, least, most)
	}
	return n, nil
}

// change records a change by a researcher, makes the session apply it at once, closes the
// connections of people who have lost their rights, and redirects to a place of the session's page.
func (s running) change(c echo.Context, action auth.Action, place string, do func(ctx context.Context, id idrl.SessionID, who string) error) error {
	session, err := s.researchersSession(c, action)
	if err != nil {
		return err
	}
	ctx, id := c.Request().Context(), session.Spec().ID
	who, err := s.researcher(c, action, id)
	if err != nil {
		return err
	}
	if err := do(ctx, id, who.User); err != nil {
		return err
	}
	if err := session.Follow(ctx); err != nil {
		return err
	}
	s.Recheck()
	return c.Redirect(http.StatusSeeOther, sessionURL(id)+place)
}

// toSession redirects a GET of an address of forms, which a browser may have kept, to the session's
// page.
func (s running) toSession(c echo.Context) error {
	id, err := sessionID(c)
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, sessionURL(id))
}
