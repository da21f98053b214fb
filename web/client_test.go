package web_test

import (
	"fmt"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/web/client"
	"tiebreak/web/wire"
)

// TestClient: a program answers as a browser does.
func TestClient(t *testing.T) {
	b := newBench(t, nil)
	ctx := t.Context()
	conn := must.Get(client.DialAs(ctx, b.link("s1"), "Robot"))(t)
	b.record()
	must.Do(t, conn.Send(&wire.ClientHello{}))
	for acks, sent, mine := 0, 0, -1; acks < 3; {
		m := must.Get(conn.Recv())(t)
		switch m := m.(type) {
		case *wire.Query:
			clip, err := conn.Clip(ctx, m.Clips[0])
			if err != nil || string(clip) != "MEDIA-c1" {
				t.Errorf("clip = %q, error %v", clip, err)
			}
		case *wire.Status:
			mine = m.Mine
		case *wire.Ack:
			acks++
		}
		if sent < 3 && mine == sent && acks == sent { // an answer's status may come before its ack, or after it
			must.Do(t, conn.Send(answerTo(sent, fmt.Sprint("id", sent))))
			sent++
		}
	}
	must.Do(t, conn.Reconnect(ctx))
	must.Do(t, conn.Send(&wire.ClientHello{Outbox: []idrl.AnswerID{"id0"}}))
	if m, err := conn.Recv(); err != nil || len(m.(*wire.Hello).Have) != 1 {
		t.Errorf("after a reconnect: %v, error %v", m, err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

func TestClientRefuses(t *testing.T) {
	b := newBench(t, nil)
	for _, test := range []struct {
		link string
		kind idrl.Kind
	}{
		{"not a link", idrl.Invalid},
		{b.url + "/sessions/s1", idrl.Invalid},
		{b.url + "/join/nonsense", idrl.NotFound},
		{"http://127.0.0.1:1/join/AAAAAAAAAAAAAAAAAAAAAA", idrl.Unavailable},
	} {
		if _, err := client.Dial(t.Context(), test.link); err == nil || idrl.KindOf(err) != test.kind {
			t.Errorf("%s: error %v, want kind %d", test.link, err, test.kind)
		}
	}
}

// TestClientPassesOnWhatTheServerSays: not "404 Not Found", which helps nobody.
func TestClientPassesOnWhatTheServerSays(t *testing.T) {
	b := newBench(t, nil)
	_, err := client.Dial(t.Context(), b.url+"/join/nonsense")
	if err == nil || !strings.Contains(err.Error(), "link") || strings.Contains(err.Error(), "<") {
		t.Errorf("a dead link: %v", err)
	}
	conn, err := client.Dial(t.Context(), b.link("s1"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Clip(t.Context(), "/sessions/s1/clips/none"); idrl.KindOf(err) != idrl.NotFound || strings.Contains(err.Error(), "404") {
		t.Errorf("a clip that is not there: %v", err)
	}
	b.sessions.paused = idrl.Errorf(idrl.Invalid, "the environment is not there")
	if err := conn.Reconnect(t.Context()); err == nil || !strings.Contains(err.Error(), "missing on this server") || idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("a session that is paused, for which it is no use to try again: %v", err)
	}
	b.sessions.paused = nil
	if _, err := client.DialAs(t.Context(), b.link("s1"), strings.Repeat("x", 1000)); err == nil || idrl.KindOf(err) != idrl.Invalid || strings.Contains(err.Error(), "400") {
		t.Errorf("a name that is too long: %v", err)
	}
}
