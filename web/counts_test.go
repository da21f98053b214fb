package web_test

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/gorilla/websocket"

	"tiebreak/internal/check/waittest"
	"tiebreak/web"
	"tiebreak/web/wire"
)

// pipes are connections without buffers, in this process: what one end does not read, the other cannot write.
type pipes struct {
	made  chan net.Conn
	close func()
	ended chan struct{}
}

func newPipes() pipes {
	ended := make(chan struct{})
	return pipes{made: make(chan net.Conn), ended: ended, close: sync.OnceFunc(func() { close(ended) })}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.made:
		return c, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	p.close()
	return nil
}

func (pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// A client that takes no messages is disconnected, and counted once; so are the messages that it has not taken.
func TestSlowClientIsCounted(t *testing.T) {
	b := newBench(t, nil)
	web.WriteWait(b.web, 100*time.Millisecond)
	browser := b.annotator("s1")
	line := newPipes()
	srv := &http.Server{Handler: b.web, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(line) }()
	t.Cleanup(func() {
		_ = srv.Close()
		<-served
	})
	server, client := net.Pipe()
	line.made <- server
	at, err := url.Parse(b.url)
	if err != nil {
		t.Fatal(err)
	}
	dialer := websocket.Dialer{NetDialContext: func(context.Context, string, string) (net.Conn, error) { return client, nil }, Subprotocols: []string{wire.Subprotocol}}
	h := http.Header{"Origin": {b.url}}
	for _, c := range browser.Jar.Cookies(at) {
		h.Add("Cookie", c.String())
	}
	ws, _, err := dialer.DialContext(t.Context(), "ws://"+at.Host+"/sessions/s1/ws", h)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	must.Do(t, ws.WriteMessage(websocket.TextMessage, wire.Encode(&wire.ClientHello{})))
	waittest.Until(t, "the socket to be closed", func() bool { return b.web.Counts().Slow.Load() > 0 && b.web.Sockets() == 0 })
	if c := b.web.Counts(); c.Slow.Load() != 1 || c.Dropped.Load() < 1 || c.Dropped.Load() > 10 {
		t.Errorf("%d slow clients and %d lost messages, want 1 and the few of a greeting", c.Slow.Load(), c.Dropped.Load())
	}

	tab := b.open(browser, "/sessions/s1/ws") // one that closes is not slow
	tab.send(&wire.ClientHello{})
	tab.hear()
	if n := b.web.Sockets(); n != 1 {
		t.Errorf("%d sockets are open, want 1", n)
	}
	_ = tab.ws.Close()
	for end := time.Now().Add(waittest.Limit); b.web.Sockets() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if c := b.web.Counts(); c.Slow.Load() != 1 {
		t.Errorf("%d slow clients, want 1", c.Slow.Load())
	}
}

// Answers are counted when they are acknowledged, by socket and by the API, apart from those that come again and those that are refused.
func TestAnswersAreCounted(t *testing.T) {
	b := newBench(t, nil)
	tab := b.open(b.annotator("s1"), "/sessions/s1/ws")
	tab.send(&wire.ClientHello{})
	for _, m := range []*wire.Answer{answerTo(0, "id1"), answerTo(0, "id1"), answerTo(1, "id2")} {
		tab.send(m)
		wait[*wire.Ack](tab)
	}
	tab.send(answerTo(99, "id3"))
	wait[*wire.Nak](tab)
	c := b.web.Counts()
	n, sum, _ := c.Seconds.Counts()
	if c.New.Load() != 2 || c.Replayed.Load() != 1 || n != 3 || sum <= 0 {
		t.Errorf("%d new and %d known answers, %d times with the sum %v; want 2, 1, 3 and more than 0", c.New.Load(), c.Replayed.Load(), n, sum)
	}
}
