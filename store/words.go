package store

import (
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// words holds one copy of each text that many rows have. A row is read with texts of its own, which would
// be a third of the memory of a long log.
type words map[string]string

// share makes a text the copy of it.
func share[S ~string](one words, s *S) {
	if *s == "" {
		return
	}
	if known, ok := one[string(*s)]; ok {
		*s = S(known)
		return
	}
	one[string(*s)] = string(*s)
}

func (w words) ofAnswer(a *idrl.Answer) {
	share(w, &a.Annotator)
	share(w, &a.Choice)
	share(w, &a.Remark)
	share(w, &a.Best)
	share(w, &a.Worst)
	share(w, &a.Left)
	share(w, &a.Order)
	share(w, &a.Input)
}

func (w words) ofAssignment(a *record.Assignment) {
	share(w, &a.Annotator)
	share(w, &a.Left)
	share(w, &a.Order)
	share(w, &a.Condition)
	share(w, &a.Why.Purpose)
	share(w, &a.Why.First)
	share(w, &a.Why.Second)
	for i := range a.Why.Shares {
		share(w, &a.Why.Shares[i].Policy)
	}
}

func (w words) ofQuery(q *idrl.Query) {
	share(w, &q.Kind)
	for i := range q.Clips {
		share(w, &q.Clips[i])
	}
}

// shareNames makes the names in an answer those of its assignment.
func shareNames(a *idrl.Answer, as *record.Assignment) {
	a.Assignment = as.ID
	if a.Query == as.Query.ID {
		a.Query = as.Query.ID
	}
	if a.ID == as.Answer {
		a.ID = as.Answer
	}
}
