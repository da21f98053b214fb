package web

import (
	"context"
	"net/netip"
	"sync"

	"github.com/labstack/echo/v4"
)

// atOnce is how many requests of one address are processed at the same time before the person is
// known. Others wait, so that a client with many connections gets no more processor time than one
// with two.
const atOnce = 2

// gates are the queues of addresses.
type gates struct {
	mu sync.Mutex
	at map[netip.Addr]*gate // guarded by mu: those with a request that waits or is worked on
}

type gate struct {
	slots chan struct{} // one element for each request that is worked on
	users int           // guarded by gates.mu
}

// enter waits until a request of the address may be processed, or ctx is done. The caller must call
// leave once.
func (g *gates) enter(ctx context.Context, address netip.Addr) (leave func()) {
	g.mu.Lock()
	if g.at == nil {
		g.at = map[netip.Addr]*gate{}
	}
	at := g.at[address]
	if at == nil {
		at = &gate{slots: make(chan struct{}, atOnce)}
		g.at[address] = at
	}
	at.users++
	g.mu.Unlock()
	inside := false
	select {
	case at.slots <- struct{}{}:
		inside = true
	case <-ctx.Done():
	}
	return func() {
		if inside {
			<-at.slots
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if at.users--; at.users == 0 {
			delete(g.at, address)
		}
	}
}

// queue lets a request pass the gate of its address. The request leaves the gate when the person is
// known, so that long work does not block others at that address: forms are read before, exports
// and sockets begin after.
func (s *Server) queue(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if probe(r.URL.Path) || c.Path() == staticPath {
			return next(c)
		}
		q := requestOf(r)
		q.leave = s.gates.enter(r.Context(), s.address(r))
		defer q.pass()
		if err := next(c); err != nil {
			s.fail(c, err) // a page that costs the server work
		}
		return nil
	}
}

// pass leaves the gate, if the request is in one.
func (q *request) pass() {
	if q.leave != nil {
		q.leave()
		q.leave = nil
	}
}
