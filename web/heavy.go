package web

import (
	"context"
	"net/http"
	"runtime"
	"time"

	"tiebreak/internal/idrl"

	"github.com/labstack/echo/v4"
)

// Limits of heavy requests: pages and files whose cost grows with the answers of a session.
const (
	heavyWaiting = 32               // that wait for a place, at most
	heavyWait    = 20 * time.Second // for a place, at most
	heavyAgain   = 10 * time.Second // what a client is told to wait when there was none
)

// errHeavy refuses a heavy request for which there was no place.
var errHeavy = idrl.Errorf(idrl.Unavailable, "The server is computing other large pages and exports. Try again in %d seconds.", int(heavyAgain.Seconds()))

// heavy holds the places of heavy requests: half as many as there are processors, so that people
// who answer have the others.
type heavy struct {
	places  chan struct{} // an element for each that is taken
	waiting chan struct{} // one for each request that waits
	wait    time.Duration
}

func newHeavy() heavy {
	return heavy{places: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), waiting: make(chan struct{}, heavyWaiting), wait: heavyWait}
}

// enter takes a place, which the caller leaves once. It waits for one, and returns errHeavy if too
// many wait or it has waited long.
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

// heavyReply takes a place for a request whose reply may be long. While a part of the reply is being
// sent, others have the place, so that they need not wait for a client that reads slowly.
func (s *Server) heavyReply(c echo.Context) (leave func(), err error) {
	give, err := s.heavy.enter(c.Request().Context())
	if err != nil {
		return nil, err
	}
	out := c.Response()
	t := &turns{ResponseWriter: out.Writer, places: s.heavy.places}
	out.Writer = t
	return func() {
		out.Writer = t.ResponseWriter
		give()
	}, nil
}

// turns writes a reply without the place of its request.
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
