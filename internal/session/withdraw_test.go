package session_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
	"tiebreak/internal/session/journaltest"
	"tiebreak/internal/session/view"
)

// withdraw takes the data of who out of the journal, as a command beside the server does.
func (b *bench) withdraw(who idrl.AnnotatorID) {
	b.journal.mu.Lock()
	defer b.journal.mu.Unlock()
	journaltest.Withdraw(&b.journal.rec, who)
}

// patient calls f again while the session is being started.
func patient[T any](t *testing.T, f func(context.Context) (T, error)) T {
	t.Helper()
	for {
		v, err := f(t.Context())
		if err == nil {
			return v
		}
		if idrl.KindOf(err) != idrl.Unavailable {
			t.Fatal(err)
		}
	}
}

// TestWithdrawal: when a person's data were withdrawn, the posterior is that of the others'
// answers alone, to the byte, at once and from the log alone; an answer that arrives
// meanwhile is not lost, the person is not asked any more, and the session goes on.
func TestWithdrawal(t *testing.T) {
	for _, adoptAfter := range []int64{0, 2} {
		t.Run(fmt.Sprintf("adopt after %d", adoptAfter), func(t *testing.T) {
			b := newBench(func(s *idrl.SessionSpec) { s.AdoptAfter = adoptAfter })
			m := b.manager(t, b.journal)
			h := session.Handle{Manager: m, ID: "s1"}
			n := 0
			next := func(who idrl.AnnotatorID) idrl.Answer {
				t.Helper()
				for {
					if o := patient(t, func(ctx context.Context) (view.Offer, error) { return h.Claim(ctx, who) }); len(o.Open) > 0 {
						n++
						return reply(o.Open[0], n)
					}
				}
			}
			answer := func(people ...idrl.AnnotatorID) {
				t.Helper()
				for _, who := range people {
					a := next(who)
					patient(t, func(ctx context.Context) (view.Receipt, error) { return h.Answer(ctx, who, a) })
				}
			}
			answer("good", "gone", "gone", "good", "gone", "good", "other")
			undone := next("gone")
			patient(t, func(ctx context.Context) (view.Receipt, error) { return h.Answer(ctx, "gone", undone) })
			must.Get(h.Undo(t.Context(), "gone", "u", undone.ID))(t)
			waiting, late := next("good"), next("gone")
			b.withdraw("gone")
			rows := len(b.journal.rec.Log)

			// The session has not followed: it must not write what it learnt from the person, and the next run takes the answer.
			if _, err := h.Answer(t.Context(), "good", waiting); err != nil {
				t.Fatalf("an answer before the session follows: %v", err)
			}
			if got := len(b.journal.rec.Log); got != rows+1 {
				t.Fatalf("%d rows after it, want %d", got, rows+1)
			}
			s, err := m.Session(t.Context(), "s1")
			if err != nil {
				t.Fatal(err)
			}
			b.same(t, s, "after the withdrawal", "good", "other")
			for what, err := range map[string]error{
				"claim":  second(h.Claim(t.Context(), "gone")),
				"answer": second(h.Answer(t.Context(), "gone", late)),
				"undo":   second(h.Undo(t.Context(), "gone", "u2", "answer-2")),
			} {
				if idrl.KindOf(err) != idrl.Forbidden {
					t.Errorf("%s: %v, want it forbidden", what, err)
				}
			}
			if given, err := h.Given(t.Context(), "gone"); err != nil || len(given) != 0 {
				t.Errorf("last answers of the person: %v, %v", given, err)
			}
			answer("other", "good", "other", "good", "other") // trainings are due meanwhile
			if s, err = m.Session(t.Context(), "s1"); err != nil {
				t.Fatal(err)
			}
			b.same(t, s, "later", "good", "other")
			st, err := h.Status(t.Context())
			if err != nil || st.Answers != 10 || len(st.Annotators) != 2 {
				t.Errorf("%d answers of %d people, %v; want 10 of 2", st.Answers, len(st.Annotators), err)
			}
			m.Close()
			b.journal.rec.Snapshots = nil
			again, _ := b.start(t)
			replayed, err := again.Status(t.Context())
			if err != nil || !cmp.Equal(st.Weights, replayed.Weights) {
				t.Errorf("from the log alone the weights differ (%v)", err)
			}
		})
	}
}

// A withdrawal of which a session hears by itself, as a researcher's change, starts it again;
// one of somebody without a row does too, and changes nothing of the belief.
func TestFollowAWithdrawal(t *testing.T) {
	b := newBench(nil)
	m := b.manager(t, b.journal)
	h := session.Handle{Manager: m, ID: "s1"}
	for n := range 3 {
		a := reply(asked(t, h), n)
		patient(t, func(ctx context.Context) (view.Receipt, error) { return h.Answer(ctx, "ann", a) })
	}
	before, err := m.Session(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	was, err := before.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.withdraw("nobody-yet")
	followed := func(f func(context.Context) error) { // it may be started again already
		t.Helper()
		patient(t, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) })
	}
	followed(m.Follow)
	after, err := m.Session(t.Context(), "s1")
	if err != nil || after == before {
		t.Fatalf("the same run goes on (%v)", err)
	}
	now, err := after.Status(t.Context())
	if err != nil || !cmp.Equal(was.Weights, now.Weights) || now.Answers != 3 {
		t.Errorf("%d answers, %v; want 3 and the same weights", now.Answers, err)
	}
	b.withdraw("ann")
	followed(h.Follow)
	if st := patient(t, h.Status); st.Answers != 0 || len(st.Annotators) != 0 || len(st.Recent) != 0 {
		t.Errorf("after the withdrawal of all: %+v", st)
	}
}

// A heldJournal reads its settings only when it is let.
type heldJournal struct {
	*journal
	reads chan struct{} // nil: at once
}

func (j *heldJournal) Settings(ctx context.Context, id idrl.SessionID) (record.Settings, error) {
	if j.reads != nil {
		<-j.reads
	}
	return j.journal.Settings(ctx, id)
}

// What others ask of a session that is about to start again without a person's data is served by the next run.
func TestWithdrawalRefusesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(nil)
		j := &heldJournal{journal: b.journal}
		m := b.manager(t, j)
		h := session.Handle{Manager: m, ID: "s1"}
		a := reply(asked(t, h), 1)
		must.Get(h.Answer(t.Context(), "ann", a))(t)
		synctest.Wait()
		j.reads = make(chan struct{})
		b.withdraw("gone")
		followed, have := make(chan error, 1), make(chan error, 1)
		go func() { followed <- m.Follow(t.Context()) }()
		synctest.Wait() // the session reads its settings
		go func() {
			ids, err := h.Have(t.Context(), "ann", []idrl.AnswerID{a.ID})
			if err == nil && len(ids) != 1 {
				err = fmt.Errorf("it has %v", ids)
			}
			have <- err
		}()
		synctest.Wait() // which takes nothing in until it has read them
		close(j.reads)
		if err := <-have; err != nil {
			t.Errorf("a hello while the session starts again: %v", err)
		}
		must.Do(t, <-followed)
		m.Close()
	})
}
