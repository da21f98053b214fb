package store

import (
	"strings"
	"testing"
	"time"
	"unsafe"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Rows that have the same words share them, and an answer shares its names with its assignment.
func TestRowsShareWords(t *testing.T) {
	word := strings.Clone
	same := func(what, a, b string) {
		t.Helper()
		if a != b || unsafe.StringData(a) != unsafe.StringData(b) {
			t.Errorf("%s: %q and %q have memory of their own", what, a, b)
		}
	}
	answer := func() idrl.Answer {
		return idrl.Answer{
			ID: idrl.AnswerID(word("answer")), Assignment: idrl.AssignmentID(word("s.1")), Query: idrl.QueryID(word("query")),
			Annotator: idrl.AnnotatorID(word("a1")), Choice: idrl.Choice(word("equal")), Left: idrl.Side(word("a")), Input: word("keyboard"),
		}
	}
	asked := func() record.Assignment {
		a := record.Assignment{
			ID: idrl.AssignmentID(word("s.1")), Annotator: idrl.AnnotatorID(word("a1")), Answer: idrl.AnswerID(word("answer")),
			Query: idrl.Query{ID: idrl.QueryID(word("query"))},
		}
		a.Why.First, a.Why.Purpose = idrl.PolicyID(word("g0.p1")), record.Purpose(word("value"))
		a.Why.Shares[0].Policy = idrl.PolicyID(strings.Fields("g0.p1 1")[0])
		return a
	}
	w := words{}
	a, b, as := answer(), answer(), asked()
	w.ofAnswer(&a)
	w.ofAnswer(&b)
	w.ofAssignment(&as)
	same("annotators", string(a.Annotator), string(b.Annotator))
	same("annotators of a question", string(a.Annotator), string(as.Annotator))
	same("choices", string(a.Choice), string(b.Choice))
	same("sides", string(a.Left), string(b.Left))
	same("inputs", a.Input, b.Input)
	same("policies", string(as.Why.First), string(as.Why.Shares[0].Policy))
	shareNames(&a, &as)
	same("names of an assignment", string(a.Assignment), string(as.ID))
	same("names of a query", string(a.Query), string(as.Query.ID))
	same("names of an answer", string(a.ID), string(as.Answer))
	b.Query, b.ID = "another", "other"
	if shareNames(&b, &as); b.Query != "another" || b.ID != "other" {
		t.Errorf("other names became those of the assignment: %+v", b)
	}
}

// Times are read as they were written, and nothing else is a time.
func TestTimesRoundTrip(t *testing.T) {
	for _, want := range []time.Time{{}, time.Unix(0, 1), time.Date(2026, 2, 28, 23, 59, 59, 999_999_999, time.UTC)} {
		if got, err := decodeTime(encodeTime(want)); err != nil || got != want.UTC() {
			t.Errorf("%v became %v, %v", want, got, err)
		}
	}
	for _, wrong := range []string{
		"", "2026-02-30T00:00:00.000000000Z", "2026-02-03T00:00:00Z", "2026-02-03T00:00:00.000+01:00Z", "2026-02-03 00:00:00.000000000Z", "2026-02-03T00:00:00.000000+01:00",
	} {
		if got, err := decodeTime(wrong); err == nil {
			t.Errorf("%q is %v", wrong, got)
		}
	}
}
