package session_test

import (
	"fmt"
	"slices"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
)

// The curve of regret says after how many answers that the posterior knew each statement was made: a skip adds none, an
// answer that is taken back takes one away, and so do those of a person who is left out. It is the same after a restart, from the log alone.
func TestRegretSaysAnswers(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.Ahead, s.TrainEvery = 1, 1000 })
	s, stop := b.start(t)
	n := 0
	give := func(who idrl.AnnotatorID) {
		t.Helper()
		mustAnswer(t, s, who, reply(claim(t, s, who).Open[0], n))
		n++
	}
	give("ann")
	give("bad")
	skip := reply(claim(t, s, "ann").Open[0], n)
	skip.Choice, skip.Reason = idrl.Skip, "other"
	mustAnswer(t, s, "ann", skip)
	taken := n + 1
	mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], taken))
	undo(t, s, taken)
	n += 2
	give("ann")
	b.want(50, record.Settings{LeftOut: []idrl.AnnotatorID{"bad"}})
	follow(t, s)
	give("bad") // and learns nothing
	b.want(50, record.Settings{})
	follow(t, s)
	give("ann")
	want := []string{"0:0", "1:1", "2:2", "3:2", "4:3", "5:2", "6:3", "7:2", "8:2", "9:4", "10:5"}
	check := func(s *session.Session, when string) {
		t.Helper()
		var got []string
		for _, r := range status(t, s).Regret {
			got = append(got, fmt.Sprintf("%d:%d", r.Seq, r.Answers))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: rows and answers %v, want %v", when, got, want)
		}
	}
	check(s, "at once")
	stop()
	for i := range b.journal.rec.Snapshots { // which a store does not keep
		b.journal.rec.Snapshots[i].Regret.Answers = 0
	}
	s, stop = b.start(t)
	defer stop()
	check(s, "after a restart")
}
