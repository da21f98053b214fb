package web

import (
	"context"
	"net/http"
	"runtime"
	"sync"
	"time"

	"tiebreak/internal/idrl"

	"github.com/labstack/echo/v4"
)

// Heavy work gives way to annotators.
const (
	heavyPiece = 200 * time.Microsecond // of work between two checks whether annotators wait
	heavyPause = 20 * time.Millisecond  // for which it lets annotators' messages go first before its next piece, at most
)

// heavy admits heavy requests by its scheduler. A request with a place works in pieces, and between
// these lets annotators' messages go first.
type heavy struct {
	*scheduler

	decoding chan struct{} // has an element while an upload is decoded

	lock   sync.Mutex
	urgent int           // guarded by lock: messages of people that are dealt with
	calm   chan struct{} // guarded by lock: annotators' messages in process
}

func newHeavy() *heavy { return &heavy{scheduler: newScheduler(), decoding: make(chan struct{}, 1)} }

// first says that an annotator's message is in process, until done is called.
func (h *heavy) first() (done func()) {
	h.lock.Lock()
	defer h.lock.Unlock()
	if h.urgent++; h.urgent == 1 {
		h.calm = make(chan struct{})
	}
	return h.endUrgent
}

// endUrgent is the end of first.
func (h *heavy) endUrgent() {
	h.lock.Lock()
	defer h.lock.Unlock()
	if h.urgent--; h.urgent == 0 {
		close(h.calm)
	}
}

// pauses returns a function that a heavy request calls between small pieces of its work. It lets
// other goroutines run, and waits while annotators' messages are in process, at most heavyPause.
func (h *heavy) pauses(ctx context.Context) func() {
	var mu sync.Mutex
	began := time.Now()
	return func() {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(began) < heavyPiece {
			return
		}
		runtime.Gosched()
		h.giveWay(ctx)
		began = time.Now()
	}
}

// giveWay waits while annotators' messages are in process, at most heavyPause.
func (h *heavy) giveWay(ctx context.Context) {
	h.lock.Lock()
	urgent, calm := h.urgent, h.calm
	h.lock.Unlock()
	if urgent == 0 {
		return
	}
	timer := time.NewTimer(heavyPause)
	defer timer.Stop()
	select {
	case <-calm:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// decode waits until an upload, whose ticket rests, may decode a part of itself, and has a place again. One does at a time, since a
// picture takes up to 128 MiB, which its estimate does not count. It returns an error if ctx is done before.
func (h *heavy) decode(ctx context.Context, t *ticket) (leave func(), err error) {
	select {
	case h.decoding <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := t.resume(ctx); err != nil {
		<-h.decoding
		return nil, err
	}
	return func() { t.rest(); <-h.decoding }, nil
}

// begin takes a place for heavy work of a request, whose actor is known. The work gives way to annotators where it
// calls idrl.Pause with the context of the request.
func (s *site) begin(c echo.Context, w work) (*ticket, error) {
	r := c.Request()
	t, err := s.heavy.enter(r.Context(), s.actorOf(r), w)
	if err == nil {
		pause := s.heavy.pauses(r.Context())
		c.SetRequest(r.WithContext(idrl.WithPause(r.Context(), func() {
			pause()
			t.share(r.Context())
		})))
	}
	return t, err
}

// admitted calls do when the request has a place for it, with a context with which it gives way to annotators.
func (s *site) admitted(c echo.Context, w work, do func(context.Context) error) error {
	t, err := s.begin(c, w)
	if err != nil {
		return err
	}
	defer t.leave()
	return do(c.Request().Context())
}

// actorOf returns for whom a request is counted: the person who is signed in, or else the address.
func (s *site) actorOf(r *http.Request) person {
	if q := requestOf(r); q.who != (person{}) {
		return q.who
	}
	return person{id: s.address(r).String()}
}

// heavyReply takes a place for a request whose reply may be long. While a part of the reply is
// sent, the place is free for other requests, so that they need not wait for a client that reads
// slowly.
func (s *site) heavyReply(c echo.Context, w work) (leave func(), err error) {
	t, err := s.begin(c, w)
	if err != nil {
		return nil, err
	}
	ctx := c.Request().Context()
	before := swapWriter(c, func(w http.ResponseWriter) http.ResponseWriter {
		return &turns{ResponseWriter: w, ticket: t, ctx: ctx}
	})
	return func() {
		swapWriter(c, func(http.ResponseWriter) http.ResponseWriter { return before })
		t.leave()
	}, nil
}

// turns writes a reply and frees the place of its request while it writes.
type turns struct {
	http.ResponseWriter
	ticket *ticket
	ctx    context.Context // of the request
}

func (t *turns) Write(b []byte) (int, error) {
	t.ticket.away.Lock()
	defer t.ticket.away.Unlock()
	t.ticket.rest()
	n, err := t.ResponseWriter.Write(b)
	if err == nil {
		err = t.ticket.resume(t.ctx)
	}
	return n, err
}

// Unwrap is for http.ResponseController.
func (t *turns) Unwrap() http.ResponseWriter { return t.ResponseWriter }
