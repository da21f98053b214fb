package web_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/live"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/web"
	"tiebreak/web/wire"
)

// heldPeople are people whose consent is read slowly: the next read, once held, ends when it
// is let go.
type heldPeople struct {
	web.People

	mu   sync.Mutex
	next *heldRead // guarded by mu: nil where reads are as usual
}

type heldRead struct {
	begun chan struct{} // closed when the database was read
	ended chan error    // with the error of the read
}

// hold holds the next read.
func (p *heldPeople) hold() *heldRead {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = &heldRead{make(chan struct{}), make(chan error, 1)}
	return p.next
}

func (p *heldPeople) Consent(ctx context.Context, id idrl.SessionID, who idrl.AnnotatorID) (idrl.Consent, int64, error) {
	is, agreed, err := p.People.Consent(ctx, id, who)
	p.mu.Lock()
	read := p.next
	p.next = nil
	p.mu.Unlock()
	if read == nil {
		return is, agreed, err
	}
	close(read.begun)
	if fault := <-read.ended; fault != nil {
		return idrl.Consent{}, 0, fault
	}
	return is, agreed, err
}

// benchOfConsent is a bench whose annotator a1 has agreed to version 1, if asked for.
func benchOfConsent(t *testing.T, agrees bool) (*bench, *heldPeople, tab) {
	t.Helper()
	people := &heldPeople{}
	b := newBench(t, func(c *web.Config) { people.People, c.People = c.People, people })
	c := b.annotator("s1")
	if agrees {
		b.setConsent("One.")
		must.Do(t, b.db.Agree(t.Context(), "s1", "a1", 1, time.Now()))
	}
	return b, people, b.open(c, "/sessions/s1/ws")
}

func (b *bench) setConsent(text string) {
	b.t.Helper()
	if _, err := b.db.SetConsent(b.t.Context(), "s1", text, "grace", time.Now()); err != nil {
		b.t.Fatal(err)
	}
}

// An answer that arrives while the consent is read for the first time is recorded under what
// was agreed to, also if that read fails.
func TestAnswerWaitsForConsent(t *testing.T) {
	for name, fault := range map[string]error{"read": nil, "failed read": errors.New("disk")} {
		t.Run(name, func(t *testing.T) {
			b, people, tab := benchOfConsent(t, true)
			answered := make(chan struct{})
			defer b.hub.Subscribe("s1", func(live.Event) { close(answered) })()
			read := people.hold()
			tab.send(&wire.ClientHello{})
			<-read.begun
			tab.send(answerTo(0, "c-1"))
			select {
			case <-answered:
			case <-time.After(200 * time.Millisecond): // it waits, as it should
			}
			read.ended <- fault
			wait[*wire.Ack](tab)
			if v := b.s1.given()[0].Consent; v != 1 {
				t.Errorf("the answer is recorded under version %d, want 1", v)
			}
		})
	}
}

// A text that changes while the consent is read for an answer is asked about before the next
// question.
func TestQuestionWaitsForConsent(t *testing.T) {
	b, people, tab := benchOfConsent(t, true)
	tab.send(&wire.ClientHello{})
	wait[*wire.Status](tab)
	read := people.hold()
	b.s1.mu.Lock() // the questions wait until the answer has begun its read
	b.setConsent("Two.")
	b.hub.Publish("s1", live.Event{Kind: live.EventSettings})
	tab.send(answerTo(0, "c-1"))
	waittest.For(t, read.begun, "the consent to be read")
	b.s1.asked["a1"] = 2 // so that questions are offered that the page does not hold
	b.s1.mu.Unlock()
	time.AfterFunc(200*time.Millisecond, func() { read.ended <- nil })
	b.asksForConsent(tab)
}

// A text that changes while the consent is read before the first question is asked about
// before that.
func TestConsentIsReadAgain(t *testing.T) {
	b, people, tab := benchOfConsent(t, false)
	read := people.hold()
	tab.send(&wire.ClientHello{})
	waittest.For(t, read.begun, "the consent to be read")
	b.setConsent("One.")
	b.hub.Publish("s1", live.Event{Kind: live.EventSettings})
	read.ended <- nil
	b.asksForConsent(tab)
}

// asksForConsent fails unless the next status asks for consent, with no question before it.
func (b *bench) asksForConsent(tab tab) {
	b.t.Helper()
	for {
		m, err := wire.DecodeServer(tab.hear())
		if err != nil {
			b.t.Fatal(err)
		}
		switch m := m.(type) {
		case *wire.Query:
			b.t.Fatalf("question %s is sent to somebody who has not agreed", m.Assignment)
		case *wire.Status:
			if m.Consent == "" {
				b.t.Errorf("status %+v does not ask for consent", m)
			}
			return
		}
	}
}
