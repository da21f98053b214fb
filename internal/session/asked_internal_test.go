package session

import (
	"fmt"
	"slices"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// TestLastAsked: a question that was put off is among the newest, since it may be shown next, and one that was put off for so long that
// it is withdrawn was never seen.
func TestLastAsked(t *testing.T) {
	var all []record.Assignment
	give := func(answered bool, before idrl.AssignmentID) {
		n := int64(len(all) + 1)
		a := record.Assignment{ID: idrl.AssignmentID(fmt.Sprint(n)), N: n, Annotator: "ann", Query: idrl.Query{ID: idrl.QueryID(fmt.Sprint("q", n))}, Before: before}
		if answered {
			a.Answer = idrl.AnswerID(fmt.Sprint("a", n))
		}
		all = append(all, a)
	}
	last := func() (out []idrl.QueryID) {
		s := &ledger{asked: newAssignments(slices.Clone(all), 3)}
		for _, q := range s.lastAsked("ann", []record.Assignment{{Query: idrl.Query{ID: "fresh"}}}) {
			out = append(out, q.ID)
		}
		return out
	}
	give(true, "")
	give(false, "") // it is put off
	give(true, "2")
	give(false, "") // the last one
	give(false, "2")
	if got, want := last(), []idrl.QueryID{"fresh", "q4", "q2", "q5", "q3", "q1"}; !slices.Equal(got, want) {
		t.Errorf("newest first: %v, want %v", got, want)
	}
	all[3].Answer, all[4].Answer = "a4", "a5"
	for range 3 + putOffFor {
		give(true, "")
	}
	if got := last(); slices.Contains(got, "q2") || len(got) != len(all) {
		t.Errorf("with one that is withdrawn: %v", got)
	}
}
