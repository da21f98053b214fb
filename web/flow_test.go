package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/web"
	"tiebreak/web/wire"
)

// TestTwoTabs: two tabs of one annotator hold the same questions; when one
// answers, both move on.
func TestTwoTabs(t *testing.T) {
	b := newBench(t, nil)
	c := b.annotator("s1")
	one, two := b.open(c, "/sessions/s1/ws"), b.open(c, "/sessions/s1/ws")
	for _, tab := range []tab{one, two} {
		tab.send(&wire.ClientHello{})
		if s := wait[*wire.Status](tab); s.Open[0] != "s1.a1.0" {
			t.Errorf("first question = %s", s.Open[0])
		}
	}
	one.send(answerTo(0, "id1"))
	for _, tab := range []tab{one, two} {
		s := waitFor(tab, func(s *wire.Status) bool { return s.Mine == 1 })
		if !cmp.Equal(s.Open, []idrl.AssignmentID{"s1.a1.1", "s1.a1.2"}) || s.Undo != "id1" {
			t.Errorf("status after the answer = %+v", *s)
		}
	}
	two.send(answerTo(0, "id2"))
	if nak := wait[*wire.Nak](two); nak.ID != "id2" || nak.RetryMS != 0 {
		t.Errorf("a second answer to one question: nak %+v", *nak)
	}
}

// TestTwoAnnotators: the other's answer moves the progress, and nothing else.
func TestTwoAnnotators(t *testing.T) {
	b := newBench(t, nil)
	one, two := b.open(b.annotator("s1"), "/sessions/s1/ws"), b.open(b.annotator("s1"), "/sessions/s1/ws")
	for _, tab := range []tab{one, two} {
		tab.send(&wire.ClientHello{})
		wait[*wire.Status](tab)
	}
	one.send(answerTo(0, "id1"))
	s := wait[*wire.Status](two)
	if s.Answers != 1 || s.Mine != 0 || s.Undo != "" || !cmp.Equal(s.Open, []idrl.AssignmentID{"s1.a2.0", "s1.a2.1"}) {
		t.Errorf("status of the other = %+v", *s)
	}
}

func TestWaitingEndsWhenQuestionsCome(t *testing.T) {
	b := newBench(t, nil)
	b.s1.empty = true
	tab := b.open(b.annotator("s1"), "/sessions/s1/ws")
	tab.send(&wire.ClientHello{})
	if s := wait[*wire.Status](tab); s.Waiting == "" || s.Open == nil || len(s.Open) != 0 {
		t.Errorf("status = %+v, want one that waits", *s)
	}
	b.s1.set(live.EventAdopted, func() { b.s1.empty = false })
	if s := wait[*wire.Status](tab); len(s.Open) != 2 {
		t.Errorf("status = %+v, want two questions", *s)
	}
}

// TestDrain: an answer under way is acknowledged, then the server says goodbye.
func TestDrain(t *testing.T) {
	b := newBench(t, nil)
	c := b.annotator("s1")
	b.s1.block = make(chan struct{})
	tab := b.open(c, "/sessions/s1/ws")
	tab.send(answerTo(0, "id1"))
	b.s1.block <- struct{}{} // the answer is under way
	drained := make(chan error, 1)
	go func() { drained <- b.web.Drain(t.Context()) }()
	if ack := wait[*wire.Ack](tab); ack.ID != "id1" {
		t.Errorf("ack = %+v", *ack)
	}
	if bye := wait[*wire.Bye](tab); bye.RetryMS < 100 || bye.RetryMS > 5000 {
		t.Errorf("bye = %+v", *bye)
	}
	if code := tab.closed(); code != websocket.CloseGoingAway {
		t.Errorf("close code = %d, want 1001", code)
	}
	if err := waittest.For(t, drained, "the server to drain"); err != nil {
		t.Errorf("drain: %v", err)
	}
	late := b.open(c, "/sessions/s1/ws")
	if code := late.closed(); code != websocket.CloseGoingAway {
		t.Errorf("a socket after the drain: close code %d, want 1001", code)
	}
}

// TestDrainDoesNotWaitForASession: a call that a session does not take, as it waits for a
// training, ends soon. The client keeps the answer and sends it again.
func TestDrainDoesNotWaitForASession(t *testing.T) {
	b := newBench(t, nil)
	web.DrainWait(b.web, 10*time.Millisecond)
	b.s1.block = make(chan struct{})
	tab := b.open(b.annotator("s1"), "/sessions/s1/ws")
	tab.send(answerTo(0, "id1"))
	b.s1.block <- struct{}{} // this one is taken
	wait[*wire.Ack](tab)
	tab.send(answerTo(1, "id2"))
	drained := make(chan error, 1)
	go func() { drained <- b.web.Drain(t.Context()) }()
	wait[*wire.Bye](tab)
	if err := waittest.For(t, drained, "the server to drain"); err != nil {
		t.Errorf("drain: %v", err)
	}
	if len(b.s1.log) != 1 {
		t.Errorf("%d answers, want the one that was taken", len(b.s1.log))
	}
}

func TestSignOutEndsTheSocket(t *testing.T) {
	b := newBench(t, nil)
	web.PingEvery(b.web, 10*time.Millisecond)
	c := b.researcher()
	tab := b.open(c, "/sessions/s1/watch")
	tab.hear()
	b.post(c, "/signout", nil)
	if code := tab.closed(); code != websocket.ClosePolicyViolation {
		t.Errorf("close code = %d, want 1008", code)
	}
}

func TestWatch(t *testing.T) {
	b := newBench(t, nil)
	annotator := b.open(b.annotator("s1"), "/sessions/s1/ws")
	tab := b.open(b.researcher(), "/sessions/s1/watch")
	var state struct {
		T, Err     string
		Seq        int
		Regret     []struct{ Mean, Bound float64 }
		Statement  struct{ Headline, Limit, Relative, Best string }
		Candidates []struct{ Name, Clip string }
		Annotators []struct {
			ID, Name string
			MedianMS int `json:"median_ms"`
		}
		Open, Recent, Weights []any
	}
	must.Do(t, json.Unmarshal(tab.hear(), &state))
	if state.T != "state" || state.Seq != 0 || state.Candidates[0].Clip != "/sessions/s1/clips/c1" || state.Regret[0].Mean != 0.013 ||
		!strings.HasPrefix(state.Statement.Headline, "93\u00a0% sure") || state.Statement.Best != secretPolicy ||
		state.Annotators[0].Name != secretOther || state.Annotators[0].MedianMS != 1000 || state.Open == nil || state.Recent == nil {
		t.Errorf("state = %+v", state)
	}
	for n := range 40 {
		annotator.send(answerTo(n, fmt.Sprint("id", n)))
	}
	began, messages := time.Now(), 0
	for state.Seq < 40 {
		must.Do(t, json.Unmarshal(tab.hear(), &state))
		messages++
	}
	if most := int(time.Since(began)/(250*time.Millisecond)) + 2; messages > most {
		t.Errorf("%d states in %v, want at most 4 a second", messages, time.Since(began))
	}
}

// TestWhoLeftIsNotAskedNow: a question counts as asked now while its annotator's page
// is open, though its lease lives on.
func TestWhoLeftIsNotAskedNow(t *testing.T) {
	b := newBench(t, nil)
	web.PingEvery(b.web, 10*time.Millisecond)
	b.s1.open = []record.Assignment{b.s1.assignment("a1", 0)}
	tab := b.open(b.researcher(), "/sessions/s1/watch")
	until := func(here bool) {
		for {
			var state struct{ Open []struct{ Here bool } }
			must.Do(t, json.Unmarshal(tab.hear(), &state))
			if len(state.Open) == 1 && state.Open[0].Here == here {
				return
			}
		}
	}
	until(false)
	annotator := b.open(b.annotator("s1"), "/sessions/s1/ws")
	until(true)
	annotator.ws.Close()
	until(false)
}
