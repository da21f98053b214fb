package session_test

import (
	"bytes"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// TestUntrueAnswersAreMarked: what cannot be true is recorded, counted and marked.
func TestUntrueAnswersAreMarked(t *testing.T) {
	b := newBench(nil)
	s, stop := b.start(t)
	true1 := reply(claim(t, s, "ann").Open[0], 1)
	b.clock.advance(5 * time.Second)
	true1.ShownAt, true1.ResponseMS, true1.Instructions = b.clock.Now().Add(-4*time.Second), 3500, 1
	mustAnswer(t, s, "ann", true1)

	as := claim(t, s, "ann").Open[0]
	b.clock.advance(5 * time.Second)
	untrue := reply(as, 2)
	untrue.Left = map[idrl.Side]idrl.Side{idrl.SideA: idrl.SideB, idrl.SideB: idrl.SideA}[as.Left]
	untrue.ShownAt, untrue.Instructions = b.clock.Now().AddDate(164, 0, 0), 99
	first := mustAnswer(t, s, "ann", untrue)

	again := untrue // with other times: the first stays
	again.ShownAt, again.ResponseMS = b.clock.Now(), 2000
	if r := mustAnswer(t, s, "ann", again); !r.Replay || r.Seq != first.Seq {
		t.Errorf("the same answer with other times: %+v, want a replay of %+v", r, first)
	}
	st := must.Get(s.Status(t.Context()))(t)
	if a := st.Annotators[0]; a.Answers != 2 || a.Marked != 1 {
		t.Errorf("answers %d, marked %d; want 2 and 1", a.Answers, a.Marked)
	}
	stop()
	log := b.journal.rec.Log
	want := idrl.DoubtSide | idrl.DoubtInstructions | idrl.DoubtClock | idrl.DoubtHaste
	if len(log) != 2 || log[0].Doubts != 0 || log[1].Doubts != want || !log[1].ShownAt.Equal(untrue.ShownAt) {
		t.Errorf("the log is %+v, want doubts %q in its second row", log, want)
	}
}

// hurried labels 30 questions, half a second each, and returns the log.
func hurried(t *testing.T, restart bool) *bench {
	t.Helper()
	b := newBench(func(s *idrl.SessionSpec) { s.MaxRate = 60 })
	s, stop := b.start(t)
	for i := range 30 {
		a := reply(claim(t, s, "ann").Open[0], i)
		b.clock.advance(500 * time.Millisecond)
		a.Input, a.ResponseMS, a.Instructions = "mouse", 450, 1
		a.ShownAt, a.AnsweredAt = b.clock.Now().Add(-450*time.Millisecond), b.clock.Now()
		mustAnswer(t, s, "ann", a)
		if restart && i%6 == 5 {
			stop()
			s, stop = b.start(t)
		}
	}
	stop()
	return b
}

// Answers in a hurry are marked from the twentieth on, count like others, and are marked the
// same after restarts.
func TestHurryIsMarkedAndCounts(t *testing.T) {
	b := hurried(t, false)
	for i, a := range b.journal.rec.Log {
		want := idrl.Doubts(0)
		if i >= record.RateSpan-1 {
			want = idrl.DoubtRate
		}
		if a.Doubts != want {
			t.Errorf("answer %d has doubts %q, want %q", i+1, a.Doubts, want)
		}
	}
	if n := len(record.Effective(b.journal.rec.Log)); n != 30 {
		t.Errorf("%d answers count, want all 30", n)
	}
	if !bytes.Equal(lastBelief(b.journal.rec), b.afresh(t, b.journal.rec)) {
		t.Error("the posterior is not that of all answers")
	}
	if diff := cmp.Diff(b.journal.rec.Log, hurried(t, true).journal.rec.Log); diff != "" {
		t.Errorf("with restarts in between the log is another (-without +with):\n%s", diff)
	}
}
