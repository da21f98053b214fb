package web

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"tiebreak/web/wire"

	"github.com/gorilla/websocket"
)

// Limits of a socket.
const (
	writeWait   = 10 * time.Second // for one message
	pingEvery   = 30 * time.Second
	pongWait    = 75 * time.Second // without a sign of life
	queueLength = 64               // messages waiting to be written
	lingerWait  = time.Second      // for a peer to read why it was refused
	callWait    = 30 * time.Second // for one call of a session
	drainWait   = 3 * time.Second  // for running calls when the server stops
)

// A socket is one websocket. One goroutine, in read, receives; another, in
// write, sends; anybody may call send and end.
type socket struct {
	ws    *websocket.Conn
	out   chan []byte
	quiet chan struct{}                   // closed when nothing more will be sent
	gone  chan struct{}                   // closed when nothing more can be sent
	alive func(ctx context.Context) error // whether the actor still has the right; checked with each ping and by check
	check chan struct{}                   // asks for alive at once; holds one

	patience time.Duration // for one message; constant
	counts   *Counts

	mu     sync.Mutex
	code   int    // guarded by mu: why the socket closes; 0 while it is open
	reason string // guarded by mu
	last   []byte // guarded by mu: message before the close frame; may be nil
}

func newSocket(s *site, ws *websocket.Conn, from visitor) *socket {
	ws.SetReadLimit(from.limit)
	return &socket{
		ws: ws, out: make(chan []byte, queueLength), quiet: make(chan struct{}), gone: make(chan struct{}), alive: from.alive, check: make(chan struct{}, 1),
		patience: s.writeWait, counts: s.counts,
	}
}

// send queues a message. It waits while the queue is full, so that a peer that sends faster than it
// reads is slowed down. If a peer does not read at all, write drops it; it then connects again and
// reads the whole state.
func (s *socket) send(m []byte) {
	select {
	case s.out <- m:
	case <-s.gone:
	}
}

// end makes read return after the present message. After the last sender has stopped, write sends
// the queue, then last if it is not nil, and a close frame. The first call decides.
func (s *socket) end(code int, reason string, last []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code != 0 {
		return
	}
	s.code, s.reason, s.last = code, reason, last
	_ = s.ws.SetReadDeadline(time.Now()) // read returns; a broken connection does so anyway
}

// ended reports whether end was called.
func (s *socket) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.code != 0
}

// extend moves the read deadline: the peer has time until its next message or pong.
func (s *socket) extend(string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code != 0 {
		return nil // end has set the deadline
	}
	return s.ws.SetReadDeadline(time.Now().Add(pongWait))
}

// read hands every message to handle until the socket ends.
func (s *socket) read(handle func(kind int, m []byte)) {
	defer s.end(websocket.CloseNormalClosure, "", nil)
	s.ws.SetPongHandler(s.extend)
	if s.extend("") != nil {
		return
	}
	for {
		kind, m, err := s.ws.ReadMessage()
		if errors.Is(err, websocket.ErrReadLimit) {
			s.end(websocket.CloseMessageTooBig, "message too large", nil)
		}
		if err != nil || s.ended() { // messages may have arrived before the end
			return
		}
		handle(kind, m)
	}
}

// write sends queued messages and pings until the socket ends. It closes the connection.
func (s *socket) write(ctx context.Context, pingEvery time.Duration) {
	defer s.ws.Close()
	defer close(s.gone)
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		select {
		case m := <-s.out:
			if !s.put(m) {
				return
			}
		case <-s.check:
			s.checkAllowed(ctx)
		case <-ping.C:
			s.checkAllowed(ctx)
			if err := s.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(s.patience)); err != nil {
				s.broke(err, 0)
			}
		case <-s.quiet:
			s.finish()
			return
		}
	}
}

// checkAllowed ends the socket of a person who has lost the right to use it.
func (s *socket) checkAllowed(ctx context.Context) {
	if err := s.alive(ctx); err != nil {
		s.end(websocket.ClosePolicyViolation, "signed out", nil)
	}
}

// finish writes the queue and the close frame. Call it only after every sender has stopped.
func (s *socket) finish() {
	for len(s.out) > 0 {
		if !s.put(<-s.out) {
			return
		}
	}
	s.mu.Lock()
	code, reason, last := s.code, s.reason, s.last
	s.mu.Unlock()
	if last != nil && !s.put(last) || code == websocket.CloseAbnormalClosure {
		return
	}
	frame := websocket.FormatCloseMessage(code, reason)
	_ = s.ws.WriteControl(websocket.CloseMessage, frame, time.Now().Add(s.patience)) // the peer may be gone
	if code == websocket.ClosePolicyViolation || code == websocket.CloseMessageTooBig {
		s.readRest()
	}
}

// readRest reads what the peer is still sending. Closing with unread bytes would reset the
// connection, and the peer would not learn the reason.
func (s *socket) readRest() {
	conn := s.ws.NetConn()
	if conn.SetReadDeadline(time.Now().Add(lingerWait)) == nil {
		_, _ = io.Copy(io.Discard, conn) // ends with the deadline
	}
}

// put writes one message and reports whether it could.
func (s *socket) put(m []byte) bool {
	err := s.ws.SetWriteDeadline(time.Now().Add(s.patience))
	if err == nil {
		err = s.ws.WriteMessage(websocket.TextMessage, m)
	}
	if err != nil {
		s.broke(err, 1)
	}
	return err == nil
}

// broke ends the socket because of an error of the connection that lost some messages besides those that wait, and counts both.
func (s *socket) broke(err error, lost int) {
	s.end(websocket.CloseAbnormalClosure, "", nil)
	s.counts.Dropped.Add(int64(lost + len(s.out)))
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		s.counts.Slow.Add(1)
	}
}

// upgrader shares the write buffers. With its two goroutines and their data, an idle socket takes
// about 24 KB (BenchmarkIdleSockets, with 10,000).
var upgrader = websocket.Upgrader{
	HandshakeTimeout: writeWait,
	ReadBufferSize:   1 << 10,
	WriteBufferSize:  4 << 10,
	WriteBufferPool:  &sync.Pool{},
	Subprotocols:     []string{wire.Subprotocol},
	CheckOrigin:      func(*http.Request) bool { return true }, // originAllowed has run
}

// originAllowed reports whether a browser's request comes from a page of this site: an origin of
// the list, or the loopback address of the request itself. A request without an origin is refused,
// because only browsers send cookies automatically, and they name the origin.
func originAllowed(r *http.Request, allowed []string) bool {
	origin := r.Header.Get("Origin")
	if slices.Contains(allowed, origin) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host != r.Host {
		return false
	}
	return loopback(u.Host)
}

// loopback reports whether a host, with or without a port, is this machine.
func loopback(hostport string) bool {
	u := url.URL{Host: hostport}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
