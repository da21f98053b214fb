package web

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"

	"github.com/labstack/echo/v4"
)

// A request is the data about a request that may be logged. It has no path, because paths contain
// the tokens of links, and no cookie, name or address of a person. The goroutine that serves the
// request owns it.
type request struct {
	id      string         // random; also in the header X-Request-Id
	route   string         // the pattern that matched, such as "/join/:token"; empty for none
	session idrl.SessionID // in the path, once it is known to be a session; empty for none
	actor   auth.Role      // the person or program, if the handler has found it out
	who     person         // the same, for limits
	charged bool           // a limit of the address has counted it
	leave   func()         // leaves the gate of the address; nil outside
}

type requestKey struct{}

// requestOf returns the data about r; those of a request that did not pass observe are new.
func requestOf(r *http.Request) *request {
	if q, ok := r.Context().Value(requestKey{}).(*request); ok {
		return q
	}
	return &request{}
}

// observe gives every request an id and writes it to the log when it is over.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := &request{id: newRequestID()}
		reply := &replyWriter{w, s.replyWait}
		out := &countingWriter{ResponseWriter: reply}
		out.Header().Set("X-Request-Id", q.id)
		began := time.Now()
		defer func() { s.logRequest(r, q, out, time.Since(began)) }() // also if the handler breaks the connection off
		next.ServeHTTP(out, r.WithContext(context.WithValue(r.Context(), requestKey{}, q)))
		if out.status != http.StatusSwitchingProtocols {
			reply.extend() // net/http still writes what it has in its buffers
		}
	})
}

func newRequestID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the process instead
	return hex.EncodeToString(b[:])
}

// note is the middleware that records the matched route.
func (s *Server) note(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		requestOf(c.Request()).route = c.Path()
		return next(c)
	}
}

// logRequest writes one line: refusals at level Info, but only so many of them a
// second, everything else at level Debug.
func (s *Server) logRequest(r *http.Request, q *request, out *countingWriter, took time.Duration) {
	level, text, more := slog.LevelDebug, "request", 0
	if refused(q.route, out.status) {
		if ok, missed := s.refusals.take(time.Now()); ok {
			level, text, more = slog.LevelInfo, "request refused", missed
		}
	}
	if !s.log.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("id", q.id), slog.String("method", method(r.Method)), slog.String("route", q.route),
		slog.Int("status", out.status), slog.Float64("ms", float64(took.Microseconds())/1000), slog.Int64("bytes", out.bytes),
	}
	if q.session != "" {
		attrs = append(attrs, slog.String("session", string(q.session)))
	}
	if q.actor != auth.None {
		attrs = append(attrs, slog.String("actor", string(q.actor)))
	}
	if more > 0 {
		attrs = append(attrs, slog.Int("not_shown", more))
	}
	s.log.LogAttrs(r.Context(), level, text, attrs...)
}

// method returns a method of HTTP; other words of clients are not logged.
func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return "other"
}

// refused reports whether the operator should see the reply in the log: a refusal, or an attempt
// with a link that does not work.
func refused(route string, status int) bool {
	switch status {
	case http.StatusForbidden, http.StatusMisdirectedRequest, http.StatusTooManyRequests:
		return true
	case http.StatusNotFound:
		return route == "/signin" || route == "/join/:token"
	}
	return false
}

// logSignIn logs a sign-in.
func logSignIn(log *slog.Logger, c echo.Context, who auth.Actor) {
	q := requestOf(c.Request())
	q.actor = who.Role
	attrs := []slog.Attr{slog.String("id", q.id), slog.String("actor", string(who.Role))}
	if who.Session != "" {
		attrs = append(attrs, slog.String("session", string(who.Session)))
	}
	log.LogAttrs(c.Request().Context(), slog.LevelInfo, "signed in", attrs...)
}

// sampler lets a limited number of lines of a kind into the log, and counts the others.
type sampler struct {
	mu     sync.Mutex
	bucket bucket // guarded by mu
	missed int    // guarded by mu: lines dropped since the last one that was logged
}

// take reports whether a line may be written at now, and how many were dropped since the last one.
func (s *sampler) take(now time.Time) (ok bool, missed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.bucket.take(1, now) {
		s.missed++
		return false, 0
	}
	missed, s.missed = s.missed, 0
	return true, missed
}

// countingWriter notes the status and the size of a reply. A connection that a
// websocket takes over has status 101.
type countingWriter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (w *countingWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *countingWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Hijack implements http.Hijacker.
func (w *countingWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.status = http.StatusSwitchingProtocols
	}
	return conn, rw, err
}

// Unwrap is for http.ResponseController.
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
