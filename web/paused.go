package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/templates"
)

// A pausedError is the reason why a recorded session cannot run on this server.
type pausedError struct{ cause error }

func (e *pausedError) Error() string { return "the session cannot run: " + e.cause.Error() }

func (e *pausedError) Unwrap() error { return e.cause }

// message is the text for an annotator: enough for a researcher to whom they report it, without
// names of the server's files.
func (e *pausedError) message() string {
	reason := "The researcher’s page of the session says why."
	switch kindOf(e.cause) {
	case idrl.Damaged:
		reason = "Stored data of the session are damaged. " + reason
	case idrl.Invalid:
		reason = "The environment or files of the session are missing on this server, or have changed. " + reason
	default:
	}
	return "The session cannot go on at the moment. All answers that were saved are safe. Please open your link again later, or tell the person who sent it to you. " + reason
}

// session returns the running session with that id. Its error is a pausedError if the
// session is recorded but cannot run.
func (s *site) session(ctx context.Context, id idrl.SessionID) (Session, error) {
	session, err := s.cfg.Sessions.Session(ctx, id)
	if err == nil {
		return session, nil
	}
	switch kindOf(err) {
	case idrl.Invalid, idrl.Damaged, idrl.Internal:
		return nil, &pausedError{err}
	default:
		return nil, err
	}
}

// shownAnswers is how many answers a page of a paused session lists.
const shownAnswers = 20

// paused shows a researcher the records of a session that cannot run.
func (s watching) paused(c echo.Context, spec idrl.SessionSpec, cause *pausedError) error {
	p := templates.PausedPage{
		Layout: s.layout(c, spec.Title), ID: string(spec.ID), Heading: spec.Title, Back: "/sessions",
		Reason: s.explain(cause.cause), Facts: s.facts(spec),
		ExportJSONL: sessionURL(spec.ID, "export") + "?format=jsonl",
		ExportCSV:   sessionURL(spec.ID, "export") + "?format=csv",
	}
	ctx := c.Request().Context()
	control, err := running(s).controlPanel(c, spec, overviewPage)
	if err != nil {
		s.log.Error("what was done to the session cannot be read", "session", spec.ID, "err", err)
	}
	p.Control, p.Export = control, s.may(c, auth.Export, spec.ID)
	names, err := s.cfg.People.AnnotatorNames(ctx, spec.ID)
	if err != nil {
		s.log.Error("names of annotators cannot be read", "session", spec.ID, "err", err) // pseudonyms are used instead
	}
	answers, skipped := 0, 0
	err = s.cfg.Exports.Rows(ctx, spec.ID, func(l record.Labelled) error {
		switch {
		case l.Withdrawn:
		case l.Answer.Informative():
			answers++
		default:
			skipped++
		}
		p.Recent = append(p.Recent, recentAnswer(l, names))
		p.Recent = p.Recent[max(0, len(p.Recent)-shownAnswers):]
		return nil
	})
	if err != nil {
		p.Unread = "Not all answers can be read. " + s.explain(err)
	}
	slices.Reverse(p.Recent)
	p.Answers = countText(answers, skipped, spec.Budget)
	return render(c, http.StatusOK, templates.Paused(p))
}

func recentAnswer(l record.Labelled, names map[idrl.AnnotatorID]string) templates.RecentAnswer {
	a := l.Answer
	row := templates.RecentAnswer{
		Seq: strconv.FormatInt(a.Seq, 10), Annotator: string(a.Annotator), Answer: choiceText(a),
		Received: a.ReceivedAt.UTC().Format("2 Jan 2006, 15:04:05 UTC"),
	}
	if name := names[a.Annotator]; name != "" {
		row.Annotator = name
	}
	if l.Withdrawn {
		row.Answer += ", withdrawn"
	}
	return row
}

// choiceText describes an answer, for people.
func choiceText(a idrl.Answer) string {
	switch a.Choice {
	case idrl.ChoseA, idrl.ChoseB:
		return "clip " + string(a.Choice)
	case idrl.BestWorst:
		return fmt.Sprintf("best %s, worst %s", a.Best, a.Worst)
	case idrl.CantTell:
		return "can’t tell"
	case idrl.Skip:
		return "skipped"
	case idrl.TechnicalFailure:
		return "did not play"
	case idrl.Rated:
		return fmt.Sprintf("%.0f of 10", 5+5*a.Rating)
	default:
		return string(a.Choice)
	}
}

// asPaused returns the pausedError in err's chain, nil if there is none.
func asPaused(err error) *pausedError {
	var p *pausedError
	errors.As(err, &p)
	return p
}
