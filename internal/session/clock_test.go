package session_test

import (
	"testing"
	"time"
)

// When the clock of the server is set back or forward, questions stay with their annotators, answers keep their order, and only
// answers after the end of their lease by the clock of then are marked late.
func TestClockJumps(t *testing.T) {
	for _, test := range []struct {
		name string
		jump time.Duration
		late bool // control: the mark follows the clock
	}{
		{"an hour back", -time.Hour, false},
		{"a day back", -24 * time.Hour, false},
		{"an hour forward", time.Hour, true},
		{"a day forward", 24 * time.Hour, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(nil)
			s, stop := b.start(t)
			open := claim(t, s, "ann").Open
			b.clock.advance(test.jump)
			mustAnswer(t, s, "ann", reply(open[0], 1))
			next := claim(t, s, "ann").Open
			if len(next) == 0 || next[0].ID != open[1].ID {
				t.Errorf("after the jump %v are open, want %v first", next, open[1].ID)
			}
			stop()
			s, _ = b.start(t) // in the wrong hour
			b.clock.advance(-test.jump)
			for i, as := range claim(t, s, "ann").Open {
				mustAnswer(t, s, "ann", reply(as, 2+i))
			}
			log := b.record(t, s).Log
			for i, a := range log {
				if a.Seq != int64(i)+1 || a.Late != (test.late && i == 0) {
					t.Errorf("row %d has number %d, late %t", i, a.Seq, a.Late)
				}
			}
			if len(log) < 3 {
				t.Errorf("%d rows", len(log))
			}
		})
	}
}
