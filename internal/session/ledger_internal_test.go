package session

import (
	"fmt"
	"testing"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Of a budget of 4, two answers were given by a person who has done their part of 2, and still has a question open that was put off for
// another one: no answer to it is awaited. Answers of others are, as far as their leases last.
func TestBudgetLeased(t *testing.T) {
	now := time.Now()
	var rows []idrl.Answer
	var asked []record.Assignment
	ask := func(who idrl.AnnotatorID, answered bool, lease time.Duration) {
		n := int64(len(asked) + 1)
		a := record.Assignment{ID: idrl.AssignmentID(fmt.Sprint(n)), N: n, Annotator: who, Query: idrl.Query{ID: idrl.QueryID(fmt.Sprint("q", n))}, LeaseUntil: now.Add(lease)}
		if answered {
			a.Answer = idrl.AnswerID(fmt.Sprint("a", n))
			rows = append(rows, idrl.Answer{ID: a.Answer, Seq: int64(len(rows) + 1), Assignment: a.ID, Annotator: who, Choice: idrl.ChoseA})
		}
		asked = append(asked, a)
	}
	ask("done", true, 0)
	ask("done", true, 0)
	ask("done", false, time.Minute)
	ask("other", false, time.Minute)
	ask("away", false, -time.Minute)
	s := &ledger{
		settings: &settings{cfg: Config{Now: func() time.Time { return now }}, spec: idrl.SessionSpec{Budget: 4, AnswersEach: 2}},
		log:      newAnswerLog(rows), asked: newAssignments(asked, 3),
	}
	fresh := []record.Assignment{{Annotator: "other"}}
	for _, test := range []struct {
		name   string
		budget int
		fresh  []record.Assignment
		but    *record.Assignment
		want   bool
	}{
		{"one is missing", 4, nil, nil, false},
		{"one more is asked", 4, fresh, nil, true},
		{"in place of the open one", 4, fresh, s.asked.get("4"), false},
		{"a smaller budget", 3, nil, nil, true},
		{"no budget", 0, fresh, nil, false},
	} {
		s.spec.Budget = test.budget
		if got := s.budgetLeased(test.fresh, test.but); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
