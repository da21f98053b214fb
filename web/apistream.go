package web

import (
	"context"
	"math"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
)

// Limits of streams of answers.
const (
	maxStreams   = 200              // at once, in all
	ownStreams   = 8                // of one token
	streamBeat   = 15 * time.Second // from line to line, at most
	streamAtMost = time.Hour        // then the program asks again from its position

	streamPace = 200 * time.Millisecond // between two reads of the log, at least: rows that come faster share the cost of a read
)

// apiAlive is the line of a stream in which nothing has happened.
type apiAlive struct {
	Event string `json:"event"`
	Seq   int64  `json:"seq"` // of the last row of the log that was sent; after at the beginning
}

// A news channel has an element when the log of a session may have new rows.
func (s *api) news(id idrl.SessionID) (news <-chan struct{}, unsubscribe func()) {
	c := make(chan struct{}, 1)
	return c, s.cfg.Hub.Subscribe(id, func(e live.Event) {
		if e.Kind == live.EventAnswered || e.Kind == live.EventSettings {
			select {
			case c <- struct{}{}:
			default:
			}
		}
	})
}

// withoutReadDeadline removes the read deadline of a request whose reply is delayed: after the deadline the
// server would treat the client as disconnected.
func withoutReadDeadline(c echo.Context) *http.ResponseController {
	rc := http.NewResponseController(c.Response())
	_ = rc.SetReadDeadline(time.Time{}) // a recorder of tests has none
	return rc
}

// apiStream is GET /api/v1/sessions/:id/answers/stream?after=SEQ: the rows of the log after SEQ, a
// JSON object on each line, and each further row when it is recorded. It ends when the client
// disconnects, the token or the right of its account is no longer valid, the server stops, or streamAtMost has passed. The
// goroutine of the request does all of it.
func (s *api) apiStream(c echo.Context) error {
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
	leave, err := s.streams.enter(personOf(who))
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(c.Request().Context(), s.streamFor)
	defer cancel()
	ctx = idrl.WithPause(ctx, s.heavy.pauses(ctx))
	news, unsubscribe := s.news(spec.ID)
	defer unsubscribe()
	out := &stream{c: c, rc: withoutReadDeadline(c), spec: spec, exports: s.cfg.Exports, after: after}
	c.Response().Header().Set(echo.HeaderContentType, mediaType(c, export.ContentType("jsonl"), plainText))
	beat := time.NewTicker(s.streamBeat)
	defer beat.Stop()
	for {
		switch err := out.send(ctx); {
		case !committed(c):
			return err
		case err != nil:
			return nil // the status is sent: after an error the stream can only end
		}
		select {
		case <-news:
			out.rest(ctx)
		case <-beat.C:
			if s.stillProgram(c, who, auth.Export, spec.ID) != nil {
				return nil
			}
			out.quiet = true
		case <-ctx.Done():
			return nil
		case <-s.ctx.Done():
			return nil
		}
	}
}

var (
	errStreams    = idrl.Errorf(idrl.Unavailable, "%d programs already follow answers; try again in a moment, or ask with wait", maxStreams)
	errOwnStreams = idrl.Errorf(idrl.Unavailable, "this token already has %d open streams of answers; end one, then try again", ownStreams)
)

// A stream writes rows of a log to a program.
type stream struct {
	c       echo.Context
	rc      *http.ResponseController
	spec    idrl.SessionSpec
	exports Exports
	after   int64 // Seq of the last row that was sent
	begun   bool  // a line was sent
	quiet   bool  // a line is due even if there is no row
	read    time.Time
}

// rest returns when the log may be read again, or ctx is done.
func (s *stream) rest(ctx context.Context) {
	wait := time.NewTimer(time.Until(s.read.Add(streamPace)))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
	}
}

// send sends the new rows. If there is none and a line is due (at the beginning, and after a quiet
// time), it sends apiAlive.
func (s *stream) send(ctx context.Context) error {
	s.read = time.Now()
	for {
		b, rows := newRowWriter(s.spec), 0
		err := s.exports.Follow(ctx, s.spec.ID, s.after, maxAnswerRows, func(row record.LogRow) error {
			rows++
			s.after = row.Seq
			return b.write(row)
		})
		if err != nil {
			return err
		}
		if rows == 0 && (s.quiet || !s.begun) {
			if err := b.out.Encode(apiAlive{"alive", s.after}); err != nil {
				return err
			}
		}
		s.quiet, s.begun = false, true
		if b.Len() == 0 {
			return nil
		}
		if err := s.write(b.Bytes()); err != nil || rows < maxAnswerRows {
			return err
		}
	}
}

// write sends lines now.
func (s *stream) write(b []byte) error {
	if _, err := s.c.Response().Write(b); err != nil {
		return err
	}
	return s.rc.Flush()
}
