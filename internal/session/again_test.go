package session_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
)

// repeats labels n questions and returns the assignments that ask again what the annotator
// has answered, by the number of the question, from 1.
func repeats(t *testing.T, b *bench, n int, restart bool) (out map[int]record.Assignment, all []record.Assignment) {
	t.Helper()
	s, stop := b.start(t)
	out = map[int]record.Assignment{}
	before := map[idrl.QueryID]bool{}
	for i := range n {
		as := claim(t, s, "ann").Open[0]
		if before[as.Query.ID] {
			out[i+1] = as
		}
		before[as.Query.ID] = true
		all = append(all, as)
		mustAnswer(t, s, "ann", reply(as, i))
		if restart && i%7 == 0 {
			stop()
			s, stop = b.start(t)
		}
	}
	stop()
	return out, all
}

// Every tenth question that is chosen repeats an earlier one at a distance, once, with the sides swapped.
func TestPlannedRepeats(t *testing.T) {
	plan := func(s *idrl.SessionSpec) { s.RepeatEvery = 10 }
	b := newBench(plan)
	got, all := repeats(t, b, 60, false)
	seen := map[idrl.QueryID]int{}
	for n, as := range got {
		first := -1
		for k, old := range all[:n-1] {
			if old.Query.ID == as.Query.ID {
				first = k + 1
				if old.Left == as.Left {
					t.Errorf("question %d repeats %d on the same sides", n, first)
				}
			}
		}
		if as.N%10 != 0 || n-first <= session.RepeatLag {
			t.Errorf("question %d repeats %d", n, first)
		}
		if seen[as.Query.ID]++; seen[as.Query.ID] > 1 {
			t.Errorf("%s is repeated twice", as.Query.ID)
		}
	}
	if len(got) != 5 { // 20, 30, 40, 50, 60: after 10 questions nothing is far enough back
		t.Errorf("%d questions are repeats, want 5", len(got))
	}
	again, _ := repeats(t, newBench(plan), 60, true)
	if diff := cmp.Diff(got, again); diff != "" {
		t.Errorf("with restarts in between other questions are repeated (-without +with):\n%s", diff)
	}
	if none, _ := repeats(t, newBench(nil), 60, false); len(none) != 0 {
		t.Errorf("%d questions are repeats where none are wanted", len(none))
	}
}
