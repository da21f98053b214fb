package web

import (
	"context"
	"net/netip"
	"sync"

	"github.com/labstack/echo/v4"
)

// atOnce is how many requests of one address are worked on at once until it is known
// who asks. Others wait: a stranger with many connections takes no more of the
// processor than one with two.
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

// enter waits until a request of the address may be worked on, or ctx is done. The
// caller must call leave once.
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

// queue lets a request pass the gate of its address. It is left when it is known who
// asks, so that nothing that takes long stands in the way of others at that address:
// forms are read before, exports and sockets begin after.
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
			s.fail(c, err) // a page that costs something too
		}
		return nil
	}
}

// pass leaves the gate, if the request stands in one.
func (q *request) pass() {
	if q.leave != nil {
		q.leave()
		q.leave = nil
	}
}
