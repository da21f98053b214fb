package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
)

// Limits of the API.
const (
	maxAnswerRows  = 1000             // of a reply
	maxAnswersWait = 60 * time.Second // for the next one
	maxWaits       = 1000             // requests that wait so at once; further ones are answered at once
	ownWaits       = 32               // of one token
)

type apiSessionInfo struct {
	ID          idrl.SessionID      `json:"id"`
	Title       string              `json:"title"`
	Environment string              `json:"environment"`
	Kind        idrl.QueryKind      `json:"kind"`
	Strategy    string              `json:"strategy"`
	Model       string              `json:"model"`
	Features    []string            `json:"features"`
	Budget      int                 `json:"budget"`
	CreatedAt   time.Time           `json:"created_at"`
	Tags        []string            `json:"tags"`
	State       record.SessionState `json:"state"`
	Answers     int                 `json:"answers"`
	Skipped     int                 `json:"skipped"`
}

func infoOf(sum record.Summary) apiSessionInfo {
	spec := sum.Spec
	return apiSessionInfo{
		ID: spec.ID, Title: spec.Title, Environment: spec.Env, Kind: spec.Kind, Strategy: spec.Acquisition, Model: spec.Model,
		Features: append([]string{}, spec.Features...), Budget: spec.Budget, CreatedAt: spec.CreatedAt.UTC(), Tags: append([]string{}, idrl.Tags(spec.Tags)...), State: sum.State, Answers: sum.Answers, Skipped: sum.Skipped,
	}
}

// apiSessions is GET /api/v1/sessions: the sessions for which the token is valid, newest first.
func (s *api) apiSessions(c echo.Context) error {
	who, err := s.program(c, auth.ListSessions, "")
	if err != nil {
		return err
	}
	out, err := s.infos(c, who, "")
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"sessions": out})
}

// infos returns the sessions that a program may watch, or one of them.
func (s *api) infos(c echo.Context, who auth.Actor, only idrl.SessionID) ([]apiSessionInfo, error) {
	var list []record.Summary
	err := s.admitted(c, readWork, func(ctx context.Context) (err error) {
		list, err = everySession(ctx, s.site, who)
		return err
	})
	out := []apiSessionInfo{}
	for _, sum := range list {
		if only == "" && !sum.Spec.Rehearsal || sum.Spec.ID == only {
			out = append(out, infoOf(sum))
		}
	}
	return out, err
}

// apiSession is GET /api/v1/sessions/:id.
func (s *api) apiSession(c echo.Context) error {
	spec, who, err := s.programsSpec(c, auth.WatchSession)
	if err != nil {
		return err
	}
	out, err := s.infos(c, who, spec.ID)
	if err == nil && len(out) == 0 {
		err = errNoSession
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, out[0])
}

type apiQuestion struct {
	Assignment idrl.AssignmentID `json:"assignment"`
	Query      idrl.QueryID      `json:"query"`
	Clips      []idrl.ClipID     `json:"clips"`
	Annotator  idrl.AnnotatorID  `json:"annotator"`
}

type apiOpen struct {
	apiQuestion
	LeaseUntil time.Time `json:"lease_until"`
}

type apiAsked struct {
	apiQuestion
	Seq    int64       `json:"seq"`
	Choice idrl.Choice `json:"choice"`
	Undone bool        `json:"undone"`
}

// apiQuestions is GET /api/v1/sessions/:id/questions: the questions that are reserved for
// annotators, and the last answered ones.
func (s *api) apiQuestions(c echo.Context) error {
	session, _, err := s.programsSession(c, auth.WatchSession)
	if err != nil {
		return err
	}
	leave, err := s.heavyReply(c, readWork)
	if err != nil {
		return err
	}
	defer leave()
	st, err := session.Status(c.Request().Context())
	if err != nil {
		return err
	}
	open, asked := []apiOpen{}, []apiAsked{}
	for _, a := range st.Open {
		open = append(open, apiOpen{apiQuestion{a.ID, a.Query.ID, a.Query.Clips, a.Annotator}, a.LeaseUntil.UTC()})
	}
	for _, r := range st.Recent {
		a := r.Answer
		asked = append(asked, apiAsked{apiQuestion{a.Assignment, a.Query, r.Clips, a.Annotator}, a.Seq, a.Choice, r.Undone})
	}
	return c.JSON(http.StatusOK, map[string]any{"seq": st.Seq, "open": open, "asked": asked})
}

// apiAnswers is GET /api/v1/sessions/:id/answers?after=SEQ&limit=N&wait=SECONDS: the rows of the
// log after SEQ, a JSON object on each line. With wait, the reply comes when there is a row, or is
// empty after that time.
func (s *api) apiAnswers(c echo.Context) error {
	spec, who, err := s.programsSpec(c, auth.Export)
	if err != nil {
		return err
	}
	if len(spec.Features) == 0 {
		return errNoFeatures
	}
	after, err := wholeNumber(c, "after", 0, 0, math.MaxInt64)
	if err != nil {
		return err
	}
	limit, err := wholeNumber(c, "limit", maxAnswerRows, 1, maxAnswerRows)
	if err != nil {
		return err
	}
	wait, err := wholeNumber(c, "wait", 0, 0, int64(maxAnswersWait/time.Second))
	if err != nil {
		return err
	}
	if wait > 0 {
		switch leave, err := s.waits.enter(personOf(who)); {
		case err == nil:
			defer leave()
		case errors.Is(err, errWaits):
			wait = 0
		default:
			return err
		}
	}
	rows, err := s.answersAfter(c, spec, after, int(limit), time.Duration(wait)*time.Second)
	if err == nil && wait > 0 {
		err = s.stillProgram(c, who, auth.Export, spec.ID)
	}
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, mediaType(c, export.ContentType("jsonl"), plainText), rows)
}

var (
	errWaits    = idrl.Errorf(idrl.Unavailable, "%d programs already wait for answers; ask without wait", maxWaits)
	errOwnWaits = idrl.Errorf(idrl.Unavailable, "%d requests with this token already wait for answers; ask again when one has ended, or ask without wait", ownWaits)
)

// wholeNumber returns a parameter of the address, from least to most; unless if it is missing.
func wholeNumber(c echo.Context, name string, unless, least, most int64) (int64, error) {
	text := c.QueryParam(name)
	if text == "" {
		return unless, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, idrl.Errorf(idrl.Invalid, "%s must be a whole number from %d to %d", name, least, most)
	}
	return n, nil
}

// answersAfter returns lines of the log. If there is none it waits for the first.
func (s *api) answersAfter(c echo.Context, spec idrl.SessionSpec, after int64, limit int, wait time.Duration) ([]byte, error) {
	news, unsubscribe := s.news(spec.ID)
	defer unsubscribe()
	withoutReadDeadline(c)
	ctx := c.Request().Context()
	over := time.NewTimer(wait)
	defer over.Stop()
	for {
		b := newRowWriter(spec)
		err := s.admitted(c, readWork, func(ctx context.Context) error {
			return s.cfg.Exports.Follow(ctx, spec.ID, after, limit, b.write)
		})
		if err != nil || b.Len() > 0 {
			return b.Bytes(), err
		}
		select {
		case <-news:
		case <-over.C:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.ctx.Done():
			return nil, idrl.Errorf(idrl.Unavailable, "the server is stopping; try again in a moment")
		}
	}
}

type apiRow struct {
	Seq       int64            `json:"seq"`
	ID        idrl.AnswerID    `json:"id"`
	Event     string           `json:"event"`
	Of        idrl.AnswerID    `json:"of,omitempty"`        // of an undo: the answer that it withdraws
	Annotator idrl.AnnotatorID `json:"annotator,omitempty"` // of left_out, turned and taken_in
	Answer    json.RawMessage  `json:"answer,omitempty"`    // of an answer: the columns of the export
}

// A rowWriter holds rows of the log of a session as lines of JSON.
type rowWriter struct {
	bytes.Buffer
	out     *json.Encoder
	answers func(r export.Row, yield func(line []byte) error) error
}

func newRowWriter(spec idrl.SessionSpec) *rowWriter {
	w := &rowWriter{answers: export.Lines(spec)}
	w.out = json.NewEncoder(w)
	return w
}

// write adds a row as a line; an answer to a group as one for each comparison that it implies.
func (w *rowWriter) write(row record.LogRow) error {
	out := apiRow{Seq: row.Seq, ID: row.ID}
	switch {
	case row.Undoes != "":
		out.Event, out.Of = "undo", row.Undoes
	case row.Decision():
		out.Event, out.Annotator = string(row.Choice), row.Annotator
	case row.Reply == nil:
		out.Event = string(row.Choice)
	default:
		out.Event = "answer"
		return w.answers(*row.Reply, func(line []byte) error {
			out.Answer = line
			return w.out.Encode(out)
		})
	}
	return w.out.Encode(out)
}

// apiExport is GET /api/v1/sessions/:id/export, with the parameters of the page's export except the
// one for ids of participants, which identify people.
func (s *api) apiExport(c echo.Context) error {
	spec, _, err := s.programsSpec(c, auth.Export)
	if err != nil {
		return err
	}
	if c.QueryParam("participants") != "" {
		return idrl.Errorf(idrl.Forbidden, "a program cannot have the ids of participants; a researcher exports them on the session's page")
	}
	return s.downloads.writeExport(c, spec)
}
