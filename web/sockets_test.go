package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"

	"tiebreak/internal/base/live"
	"tiebreak/internal/idrl"
	"tiebreak/web"
	"tiebreak/web/wire"
)

func TestSocketRefusesStrangers(t *testing.T) {
	b := newBench(t, func(c *web.Config) { c.Origins = []string{"https://study.example"} })
	mine, other, researcher := b.annotator("s1"), b.annotator("s2"), b.researcher()
	for _, test := range []struct {
		name, path, origin, protocol string
		browser                      *http.Client
		status                       int
	}{
		{"foreign origin", "/sessions/s1/ws", "https://evil.example", wire.Subprotocol, mine, 403},
		{"no origin", "/sessions/s1/ws", "", wire.Subprotocol, mine, 403},
		{"another port", "/sessions/s1/ws", "http://127.0.0.1:1", wire.Subprotocol, mine, 403},
		{"no protocol", "/sessions/s1/ws", b.url, "", mine, 400},
		{"another protocol", "/sessions/s1/ws", b.url, "tiebreak.v0", mine, 400},
		{"nobody", "/sessions/s1/ws", b.url, wire.Subprotocol, b.browser(), 403},
		{"another session's annotator", "/sessions/s1/ws", b.url, wire.Subprotocol, other, 403},
		{"a researcher", "/sessions/s1/ws", b.url, wire.Subprotocol, researcher, 403},
		{"an annotator who watches", "/sessions/s1/watch", b.url, wire.Subprotocol, mine, 403},
		{"a session that is not there", "/sessions/s3/watch", b.url, wire.Subprotocol, researcher, 404},
		{"listed origin", "/sessions/s1/ws", "https://study.example", wire.Subprotocol, mine, 101},
		{"own page", "/sessions/s1/ws", b.url, wire.Subprotocol, mine, 101},
	} {
		t.Run(test.name, func(t *testing.T) {
			ws, res, err := b.dial(test.browser, test.path, test.origin, strings.Fields(test.protocol)...)
			if err == nil {
				ws.Close()
			}
			if res == nil || res.StatusCode != test.status {
				t.Errorf("reply %v, error %v, want status %d", res, err, test.status)
			}
		})
	}
}

func TestConversation(t *testing.T) {
	b := newBench(t, nil)
	tab := b.open(b.annotator("s1"), "/sessions/s1/ws")
	tab.send(&wire.ClientHello{Outbox: []idrl.AnswerID{"unknown"}})

	var got []wire.FromServer
	for range 4 {
		m := must.Get(wire.DecodeServer(tab.hear()))(t)
		got = append(got, m)
	}
	question := func(n int) *wire.Query {
		return &wire.Query{
			Assignment: idrl.AssignmentID(fmt.Sprintf("s1.a1.%d", n)), Query: "q1", Kind: idrl.CompareClips,
			Clips: []string{"/sessions/s1/clips/c1", "/sessions/s1/clips/c2"}, Left: idrl.SideB, Seen: []float64{0.1, 0.2, 0.3, 0.4}, LeaseUntil: time.Unix(1.9e9, 0).UTC(),
		}
	}
	want := []wire.FromServer{
		&wire.Hello{Session: "s1", Annotator: "a1", Kind: idrl.CompareClips, Env: "driver", Instructions: 1, Have: []idrl.AnswerID{}},
		question(0), question(1),
		&wire.Status{Budget: 40, Open: []idrl.AssignmentID{"s1.a1.0", "s1.a1.1"}, Instructions: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("greeting differs (-want +got):\n%s", diff)
	}

	tab.send(answerTo(0, "id1"))
	if ack := wait[*wire.Ack](tab); *ack != (wire.Ack{ID: "id1", Seq: 1}) {
		t.Errorf("ack = %+v", *ack)
	}
	tab.send(answerTo(0, "id1"))
	if ack := wait[*wire.Ack](tab); *ack != (wire.Ack{ID: "id1", Seq: 1, Replay: true}) {
		t.Errorf("second ack = %+v, want a replay", *ack)
	}
	row := b.s1.log[0]
	if row.ReceivedAt.IsZero() || row.Annotator != "a1" || row.ResponseMS != 1500 || row.AnsweredAt.Sub(row.ShownAt) != 1520*time.Millisecond {
		t.Errorf("row = %+v", row)
	}

	tab.send(&wire.Undo{ID: "id2", Of: "id1"})
	if ack := wait[*wire.Ack](tab); *ack != (wire.Ack{ID: "id2", Seq: 2}) {
		t.Errorf("ack of the undo = %+v", *ack)
	}
	tab.send(&wire.Renew{Assignment: "s1.a1.2"})
	tab.send(&wire.ClientHello{Outbox: []idrl.AnswerID{"id1", "id7"}})
	hello := wait[*wire.Hello](tab)
	if hello.Seq != 2 || !cmp.Equal(hello.Have, []idrl.AnswerID{"id1"}) || len(b.s1.renewed) != 1 {
		t.Errorf("second hello = %+v, renewed %v", *hello, b.s1.renewed)
	}
}

// TestQuestionsComeOnce: each question is sent once, before the status that
// first lists it.
func TestQuestionsComeOnce(t *testing.T) {
	b := newBench(t, nil)
	tab := b.open(b.annotator("s1"), "/sessions/s1/ws")
	tab.send(&wire.ClientHello{})
	sent := map[idrl.AssignmentID]int{}
	for n, acks, mine := 0, 0, 0; acks < 10 || mine < 10; {
		m := must.Get(wire.DecodeServer(tab.hear()))(t)
		switch m := m.(type) {
		case *wire.Query:
			sent[m.Assignment]++
		case *wire.Ack:
			acks++
		case *wire.Status:
			for _, id := range m.Open {
				if sent[id] != 1 {
					t.Fatalf("question %s is listed after it was sent %d times", id, sent[id])
				}
			}
			if mine = m.Mine; mine == n && n < 10 {
				tab.send(answerTo(n, fmt.Sprint("id", n)))
				n++
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	b := newBench(t, nil)
	tab := b.open(b.annotator("s1"), "/sessions/s1/ws")
	other := answerTo(0, "id5")
	other.Assignment = "s1.a2.0"
	rating, high := answerTo(0, "id6"), 0.5
	rating.Choice, rating.Rating = idrl.Rated, &high
	clash := answerTo(0, "id1")
	clash.Choice = idrl.ChoseB
	tab.send(answerTo(0, "id1"))
	wait[*wire.Ack](tab)
	for _, test := range []struct {
		name, message string
		nak           wire.Nak
	}{
		{"not JSON", "hello", wire.Nak{Code: wire.Invalid, Message: "The message is not a JSON object."}},
		{"unknown type", `{"t":"vote","id":"v1"}`, wire.Nak{ID: "v1", Code: wire.Unknown, Message: "The server does not know this type"}},
		{
			"rating off its scale", strings.Replace(string(wire.Encode(rating)), "0.5", "1.5", 1),
			wire.Nak{ID: "id6", Code: wire.Invalid, Message: "The rating is off its scale"},
		},
		{"rating of a comparison", string(wire.Encode(rating)), wire.Nak{ID: "id6", Code: wire.Forbidden, Message: "Question s1.a1.0"}},
		{"somebody else's question", string(wire.Encode(other)), wire.Nak{ID: "id5", Code: wire.Forbidden, Message: "Question s1.a2.0 was given to somebody else."}},
		{"same id, another choice", string(wire.Encode(clash)), wire.Nak{ID: "id1", Code: wire.Conflict, Message: "Answer id1 was recorded with another choice."}},
		{"undo of nothing", `{"t":"undo","id":"u1","of":"none"}`, wire.Nak{ID: "u1", Code: wire.NotFound, Message: "Answer none is not there"}},
		{"renewal of somebody else's", `{"t":"renew","assignment":"s1.a2.0"}`, wire.Nak{ID: "s1.a2.0", Code: wire.Forbidden, Message: "Question s1.a2.0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tab.say(test.message)
			nak := wait[*wire.Nak](tab)
			if !strings.HasPrefix(nak.Message, test.nak.Message) {
				t.Errorf("message = %q, want %q", nak.Message, test.nak.Message)
			}
			test.nak.Message = nak.Message
			if *nak != test.nak {
				t.Errorf("nak = %+v, want %+v", *nak, test.nak)
			}
		})
	}
	must.Do(t, tab.ws.WriteMessage(websocket.BinaryMessage, []byte{1}))
	if nak := wait[*wire.Nak](tab); nak.Code != wire.Invalid || !strings.Contains(nak.Message, "binary") {
		t.Errorf("binary message: nak %+v", *nak)
	}
	if n := len(b.s1.log); n != 1 {
		t.Errorf("rows in the log = %d, want the one that was right", n)
	}
	tab.send(answerTo(1, "id9")) // the socket still works
	wait[*wire.Ack](tab)
}

func TestFaultsAreRetried(t *testing.T) {
	b := newBench(t, nil)
	tab := b.open(b.annotator("s1"), "/sessions/s1/ws")
	for _, test := range []struct {
		err  error
		want wire.Nak
	}{
		{idrl.Errorf(idrl.Unavailable, "too many at once"), wire.Nak{ID: "id1", Code: wire.Unavailable, Message: "Too many at once.", RetryMS: 1000}},
		{errors.New("SECRET-FAULT"), wire.Nak{
			ID: "id1", Code: wire.Internal, RetryMS: 5000,
			Message: "The server met an internal error; its log has the details. No saved data are lost.",
		}},
	} {
		b.s1.set(live.EventTraining, func() { b.s1.fail = test.err })
		tab.send(answerTo(0, "id1"))
		nak := waitFor(tab, func(n *wire.Nak) bool { return n.ID != "" && n.Code == test.want.Code })
		if *nak != test.want {
			t.Errorf("nak = %+v, want %+v", *nak, test.want)
		}
	}
	b.s1.set(live.EventTraining, func() { b.s1.fail = nil })
	tab.send(answerTo(0, "id1"))
	if ack := wait[*wire.Ack](tab); ack.Replay {
		t.Error("an answer that was refused is there already")
	}
}

func TestTooLargeMessageEndsTheSocket(t *testing.T) {
	b := newBench(t, nil)
	tab := b.open(b.annotator("s1"), "/sessions/s1/ws")
	tab.say(strings.Repeat("x", wire.MaxMessage+1))
	if code := tab.closed(); code != websocket.CloseMessageTooBig {
		t.Errorf("close code = %d, want 1009", code)
	}
}

func TestEndlessNonsenseEndsTheSocket(t *testing.T) {
	b := newBench(t, nil)
	tab := b.open(b.annotator("s1"), "/sessions/s1/ws")
	go func() {
		for range 300 { // fails once the server has closed
			if tab.ws.WriteMessage(websocket.TextMessage, []byte("x")) != nil {
				return
			}
		}
	}()
	if code := tab.closed(); code != websocket.ClosePolicyViolation {
		t.Errorf("close code = %d, want 1008", code)
	}
}

func TestFloodIsPutOff(t *testing.T) {
	b := newBench(t, nil)
	tab := b.open(b.annotator("s1"), "/sessions/s1/ws")
	go func() {
		for range 2000 {
			if tab.ws.WriteMessage(websocket.TextMessage, []byte(`{"t":"undo","id":"u1","of":"none"}`)) != nil {
				return
			}
		}
	}()
	nak := waitFor(tab, func(n *wire.Nak) bool { return n.Code == wire.Unavailable })
	if nak.ID != "u1" || nak.RetryMS <= 0 {
		t.Errorf("nak = %+v, want one that says when to come back", *nak)
	}
}
