package web

import (
	"context"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/web/wire"

	"github.com/gorilla/websocket"
)

// sockets are the open sockets of a server.
type sockets struct {
	mu     sync.Mutex
	closed bool                 // guarded by mu
	open   map[*socket]struct{} // guarded by mu
	group  sync.WaitGroup       // goroutines of the sockets
}

// add takes s in unless the server is draining. If it returns true, two
// goroutines are counted, and remove and a second group.Done must follow.
func (l *sockets) add(s *socket) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if l.open == nil {
		l.open = map[*socket]struct{}{}
	}
	l.open[s] = struct{}{}
	l.group.Add(2)
	return true
}

// draining reports whether the server is about to stop.
func (l *sockets) draining() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

func (l *sockets) remove(s *socket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, s)
}

// Spread of the times after which drained clients come back, so that they do
// not all come at once.
const (
	comeBackFirst = 250 * time.Millisecond
	comeBackLast  = 2 * time.Second
)

// drain says goodbye to every socket and takes no more.
func (l *sockets) drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	n, i := len(l.open), 0
	for s := range l.open {
		wait := comeBackFirst + (comeBackLast-comeBackFirst)*time.Duration(i)/time.Duration(n)
		s.end(websocket.CloseGoingAway, "server stops", wire.Encode(&wire.Bye{RetryMS: wait.Milliseconds()}))
		i++
	}
}

// Drain says goodbye to every socket, refuses new ones, and waits until those
// that were open have ended or ctx is done. Call it before http.Server.Shutdown,
// which knows nothing of sockets.
func (s *Server) Drain(ctx context.Context) error {
	s.sockets.drain()
	gone := make(chan struct{})
	go func() {
		s.sockets.group.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		s.cancel()
		return nil
	case <-ctx.Done():
		s.cancel()
		return ctx.Err()
	}
}

// serve upgrades the request and runs a socket in goroutines of its own; the
// handler returns at once, so that net/http frees its buffers. start gets the
// socket before anything is read, and returns what to do with each message and
// at the end.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, limit int64, alive func(context.Context) error,
	start func(*socket) (handle func(kind int, m []byte), stop func()),
) error {
	switch {
	case !originAllowed(r, s.cfg.Origins):
		return idrl.Errorf(idrl.Forbidden, "This page was not served by this address. Open the site by the address that the server printed.")
	case !websocket.IsWebSocketUpgrade(r):
		return idrl.Errorf(idrl.Invalid, "This address is for websockets.")
	case !speaks(r):
		return idrl.Errorf(idrl.Invalid, "The websocket must name the subprotocol %s.", wire.Subprotocol)
	}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return nil //nolint:nilerr // the upgrader has replied
	}
	sock := newSocket(ws, limit, alive)
	if !s.sockets.add(sock) {
		sock.end(websocket.CloseGoingAway, "server stops", wire.Encode(&wire.Bye{RetryMS: comeBackLast.Milliseconds()}))
		sock.finish()
		return ws.Close()
	}
	handle, stop := start(sock)
	go func() {
		defer s.sockets.group.Done()
		sock.write(s.ctx, s.pingEvery)
	}()
	go func() {
		defer s.sockets.group.Done()
		defer s.sockets.remove(sock)
		defer close(sock.quiet)
		defer stop()
		defer s.survive(sock)
		sock.read(handle)
	}()
	return nil
}

// survive ends a socket whose reader panicked, and keeps the server up: what
// was recorded is safe, and the client resends the rest.
func (s *Server) survive(sock *socket) {
	if fault := recover(); fault != nil {
		s.log.Error("socket reader panicked", "fault", fault, "stack", string(debug.Stack()))
		sock.end(websocket.CloseInternalServerErr, "fault", nil)
	}
}

// speaks reports whether the client offers the protocol.
func speaks(r *http.Request) bool {
	for _, p := range websocket.Subprotocols(r) {
		if p == wire.Subprotocol {
			return true
		}
	}
	return false
}
