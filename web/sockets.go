package web

import (
	"context"
	"log/slog"
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

// add records s unless the server is draining. If its person then has more than most, their oldest
// one ends: it may belong to a closed tab, which the server notices late. If add returns true, two
// goroutines are counted, and remove and a second group.Done must follow.
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

// count returns how many sockets are open.
func (l *sockets) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// full reports whether the server has the largest number of sockets.
func (l *sockets) full() bool { return l.count() >= MaxSockets }

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

// recheck makes every socket check the right of its holder.
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

// Recheck ends the sockets of people who have lost their rights. Call it when logins have ended, or
// annotators were removed.
func (s *site) Recheck() { s.sockets.recheck() }

// Range of the times after which drained clients reconnect, so that they do not all come at once.
const (
	comeBackFirst = 250 * time.Millisecond
	comeBackLast  = 2 * time.Second
)

// drain sends a close message to every socket and accepts no more.
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

// Drain sends a close message to every socket, refuses new ones, and waits until the open ones have
// ended or ctx is done. Running calls of sessions are cancelled after drainWait: a session that
// waits for a training takes no call until the training ends. Call it before http.Server.Shutdown,
// which does not close sockets.
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

// A visitor is the person who opens a socket, and its limits.
type visitor struct {
	who   person
	most  int                             // largest number of their sockets
	limit int64                           // bytes of a message
	alive func(ctx context.Context) error // whether they still have the right
}

// serve upgrades the request and runs a socket in goroutines of its own; the handler returns at
// once, so that net/http frees its buffers. start gets the socket before anything is read, and
// returns the functions to call for each message and at the end.
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
	sock := newSocket(s, ws, from)
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
		defer sock.survive(s.log)
		sock.read(handle)
	}()
	return nil
}

// survive ends a socket whose reader panicked, and keeps the server running: recorded answers are
// safe, and the client sends the others again.
func (s *socket) survive(log *slog.Logger) {
	if fault := recover(); fault != nil {
		log.Error("socket reader panicked", "fault", fault, "stack", string(debug.Stack()))
		s.end(websocket.CloseInternalServerErr, "fault", nil)
	}
}

// speaks reports whether the client supports the protocol.
func speaks(r *http.Request) bool {
	for _, p := range websocket.Subprotocols(r) {
		if p == wire.Subprotocol {
			return true
		}
	}
	return false
}
