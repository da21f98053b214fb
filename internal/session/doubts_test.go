package session_test

import (
	"testing"
	"time"

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
	st, err := s.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
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
