package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/web/wire"

	"github.com/gorilla/websocket"
)

// patience is how long a test waits for a message before it fails.
const patience = 20 * time.Second

// tab is a raw socket of a browser.
type tab struct {
	*testing.T
	ws *websocket.Conn
}

// open connects a browser's socket as a page of the server would.
func (b *bench) open(c *http.Client, path string) tab {
	b.t.Helper()
	ws, res, err := b.dial(c, path, b.url, wire.Subprotocol)
	if err != nil {
		b.t.Fatalf("open %s: %v, %v", path, err, res)
	}
	b.t.Cleanup(func() { ws.Close() })
	return tab{b.t, ws}
}

func (b *bench) dial(c *http.Client, path, origin string, protocols ...string) (*websocket.Conn, *http.Response, error) {
	d := websocket.Dialer{Jar: c.Jar, Subprotocols: protocols}
	h := http.Header{}
	if origin != "" {
		h.Set("Origin", origin)
	}
	return d.DialContext(b.t.Context(), strings.Replace(b.url, "http", "ws", 1)+path, h)
}

func (t tab) say(text string) {
	t.Helper()
	if err := t.ws.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func (t tab) send(m wire.FromClient) {
	t.Helper()
	t.say(string(wire.Encode(m)))
}

// hear returns the next message.
func (t tab) hear() []byte {
	t.Helper()
	if err := t.ws.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	_, b, err := t.ws.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wait returns the next message of type M, past any others.
func wait[M wire.FromServer](t tab) M {
	t.Helper()
	return waitFor(t, func(M) bool { return true })
}

// waitFor returns the next message of type M that is good, past any others.
func waitFor[M wire.FromServer](t tab, good func(M) bool) M {
	t.Helper()
	for {
		m, err := wire.DecodeServer(t.hear())
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := m.(M); ok && good(m) {
			return m
		}
	}
}

// closed returns the code with which the server closes, past any messages.
func (t tab) closed() int {
	t.Helper()
	if err := t.ws.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	for {
		_, _, err := t.ws.ReadMessage()
		if e := (*websocket.CloseError)(nil); errors.As(err, &e) {
			return e.Code
		}
		if err != nil {
			t.Fatalf("the socket broke off: %v", err)
		}
	}
}

// answerTo is a reply that fits question n of annotator a1 in session s1.
func answerTo(n int, id string) *wire.Answer {
	return &wire.Answer{
		ID: idrl.AnswerID(id), Assignment: idrl.AssignmentID(fmt.Sprintf("s1.a1.%d", n)), Choice: idrl.ChoseA, ShownLeft: idrl.SideB,
		ShownAt: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), AnsweredMS: 1500, HiddenMS: 20, Loops: 1, Input: "keyboard", Instructions: 1,
	}
}
