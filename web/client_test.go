package web_test

import (
	"fmt"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/web/client"
	"tiebreak/web/wire"
)

// TestClient: a program answers as a browser does.
func TestClient(t *testing.T) {
	b := newBench(t, nil)
	ctx := t.Context()
	conn, err := client.DialAs(ctx, b.link("s1"), "Robot")
	if err != nil {
		t.Fatal(err)
	}
	b.record()
	if err := conn.Send(&wire.ClientHello{}); err != nil {
		t.Fatal(err)
	}
	for acks, sent, mine := 0, 0, -1; acks < 3; {
		m, err := conn.Recv()
		if err != nil {
			t.Fatal(err)
		}
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
			if err := conn.Send(answerTo(sent, fmt.Sprint("id", sent))); err != nil {
				t.Fatal(err)
			}
			sent++
		}
	}
	if err := conn.Reconnect(ctx); err != nil {
		t.Fatal(err)
	}
	if err := conn.Send(&wire.ClientHello{Outbox: []idrl.AnswerID{"id0"}}); err != nil {
		t.Fatal(err)
	}
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
