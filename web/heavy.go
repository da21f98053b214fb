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

// Limits of heavy requests: pages and files whose cost grows with the answers of a session.
const (
	heavyWaiting = 32               // that wait for a place, at most
	heavyWait    = 20 * time.Second // of waiting for a place, at most
	heavyAgain   = 10 * time.Second // wait that a client is asked for if there was no place

	heavyPiece = 200 * time.Microsecond // of work between two checks whether annotators wait
	heavyPause = 20 * time.Millisecond  // for which it lets annotators' messages go first before its next piece, at most
)

// errHeavy refuses a heavy request for which there was no place.
var errHeavy = idrl.Errorf(idrl.Unavailable, "The server is computing other large pages and exports. Try again in %d seconds.", int(heavyAgain.Seconds()))

// heavy holds the places of heavy requests: half as many as there are processors, so that
// annotators have the others. A request with a place works in pieces, and between these lets
// annotators' messages go first.
type heavy struct {
	places  chan struct{} // an element for each that is taken
	waiting chan struct{} // one for each request that waits
	wait    time.Duration

	mu     sync.Mutex
	urgent int           // guarded by mu: messages of people that are dealt with
	calm   chan struct{} // guarded by mu: annotators' messages in process
}

func newHeavy() *heavy {
	return &heavy{places: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), waiting: make(chan struct{}, heavyWaiting), wait: heavyWait}
}

// enter takes a place, which the caller leaves once. It waits for one, and returns errHeavy if too
// many requests wait or it has waited too long.
func (h *heavy) enter(ctx context.Context) (leave func(), err error) {
	leave = func() { <-h.places }
	select {
	case h.places <- struct{}{}:
		return leave, nil
	default:
	}
	select {
	case h.waiting <- struct{}{}:
		defer func() { <-h.waiting }()
	default:
		return nil, errHeavy
	}
	timer := time.NewTimer(h.wait)
	defer timer.Stop()
	select {
	case h.places <- struct{}{}:
		return leave, nil
	case <-timer.C:
		return nil, errHeavy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// first says that an annotator's message is in process, until done is called.
func (h *heavy) first() (done func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.urgent++; h.urgent == 1 {
		h.calm = make(chan struct{})
	}
	return h.endUrgent
}

// endUrgent is the end of first.
func (h *heavy) endUrgent() {
	h.mu.Lock()
	defer h.mu.Unlock()
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
		h.mu.Lock()
		urgent, calm := h.urgent, h.calm
		h.mu.Unlock()
		if urgent > 0 {
			timer := time.NewTimer(heavyPause)
			defer timer.Stop()
			select {
			case <-calm:
			case <-timer.C:
			case <-ctx.Done():
			}
		}
		began = time.Now()
	}
}

// heavyReply takes a place for a request whose reply may be long. While a part of the reply is
// sent, the place is free for other requests, so that they need not wait for a client that reads
// slowly. Work with the context of the request gives way to annotators (idrl.Pause).
func (s *site) heavyReply(c echo.Context) (leave func(), err error) {
	give, err := s.heavy.enter(c.Request().Context())
	if err != nil {
		return nil, err
	}
	ctx := c.Request().Context()
	c.SetRequest(c.Request().WithContext(idrl.WithPause(ctx, s.heavy.pauses(ctx))))
	before := swapWriter(c, func(w http.ResponseWriter) http.ResponseWriter {
		return &turns{ResponseWriter: w, places: s.heavy.places}
	})
	return func() {
		swapWriter(c, func(http.ResponseWriter) http.ResponseWriter { return before })
		give()
	}, nil
}

// turns writes a reply and frees the place of its request while it writes.
type turns struct {
	http.ResponseWriter
	places chan struct{}
}

func (t *turns) Write(b []byte) (int, error) {
	<-t.places
	defer func() { t.places <- struct{}{} }()
	return t.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (t *turns) Unwrap() http.ResponseWriter { return t.ResponseWriter }
