package web

import (
	"context"
	"net/http"
	"runtime/debug"
	"slices"
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
	open   map[*socket]person   // guarded by mu
	of     map[person][]*socket // guarded by mu: the oldest first
	group  sync.WaitGroup       // goroutines of the sockets
}

// add takes s in unless the server is draining. If its person then has more than
// most, their oldest ends: it may be of a tab that is long gone, which the server
// learns late. If add returns true, two goroutines are counted, and remove and a
// second group.Done must follow.
func (l *sockets) add(s *socket, who person, most int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if l.open == nil {
		l.open, l.of = map[*socket]person{}, map[person][]*socket{}
	}
	l.open[s] = who
	l.of[who] = append(l.of[who], s)
	if own := l.of[who]; len(own) > most {
		own[0].end(websocket.CloseTryAgainLater, "too many tabs", nil)
		l.of[who] = slices.Delete(own, 0, 1)
	}
	l.group.Add(2)
	return true
}

// has reports whether a person has an open socket.
func (l *sockets) has(who person) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.of[who]) > 0
}

// full reports whether the server has as many sockets as it takes.
func (l *sockets) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open) >= maxSockets
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
	who := l.open[s]
	delete(l.open, s)
	l.of[who] = slices.DeleteFunc(l.of[who], func(o *socket) bool { return o == s })
	if len(l.of[who]) == 0 {
		delete(l.of, who)
	}
}

// recheck makes every socket ask whether its holder may still be there.
func (l *sockets) recheck() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.open {
		select {
		case s.check <- struct{}{}:
		default: // it is about to
		}
	}
}

// Recheck ends the sockets of those who may be there no more. Call it when logins
// have ended, or annotators were removed.
func (s *site) Recheck() { s.sockets.recheck() }

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
// that were open have ended or ctx is done. Calls of sessions that are under way are
// cancelled after drainWait: a session that waits for a training takes no call until the
// training ends. Call it before http.Server.Shutdown, which knows nothing of sockets.
func (s *site) Drain(ctx context.Context) error {
	s.sockets.drain()
	cancel := time.AfterFunc(s.drainWait, s.cancel)
	defer cancel.Stop()
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

// A visitor is who opens a socket.
type visitor struct {
	who   person
	most  int                             // sockets that they may have at once
	limit int64                           // bytes of a message
	alive func(ctx context.Context) error // whether they may still be here
}

// serve upgrades the request and runs a socket in goroutines of its own; the
// handler returns at once, so that net/http frees its buffers. start gets the
// socket before anything is read, and returns what to do with each message and
// at the end.
func (s *site) serve(w http.ResponseWriter, r *http.Request, from visitor,
	start func(*socket) (handle func(kind int, m []byte), stop func()),
) error {
	switch {
	case !originAllowed(r, s.cfg.Origins):
		return idrl.Errorf(idrl.Forbidden, "This page was not served by this address. Open the site by the address that the server printed.")
	case !websocket.IsWebSocketUpgrade(r):
		return idrl.Errorf(idrl.Invalid, "This address accepts only websockets.")
	case !speaks(r):
		return idrl.Errorf(idrl.Invalid, "The websocket must name the subprotocol %s.", wire.Subprotocol)
	}
	if s.sockets.full() {
		return idrl.Errorf(idrl.Unavailable, "The server has as many open pages as it can serve. The page tries again by itself.")
	}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return nil //nolint:nilerr // the upgrader has replied
	}
	sock := newSocket(ws, from.limit, from.alive)
	if !s.sockets.add(sock, from.who, from.most) {
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
func (s *site) survive(sock *socket) {
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
