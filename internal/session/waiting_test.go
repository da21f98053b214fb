package session_test

import (
	"bytes"
	"slices"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/view"
)

// waiting returns a bench whose strategy finds most questions worth more than those that wait.
func waiting(t *testing.T, change func(*idrl.SessionSpec)) *bench {
	t.Helper()
	var name string
	b := newBench(func(s *idrl.SessionSpec) {
		s.Acquisition, s.TrainEvery, s.AdoptAfter, s.Budget, s.Ahead = "lvar", 1, 1, 0, 3
		if change != nil {
			change(s)
		}
		name = s.Acquisition
	})
	b.method = method(t, name)
	return b
}

func ids(o view.Offer) (out []idrl.AssignmentID) {
	for _, as := range o.Open {
		out = append(out, as.ID)
	}
	return out
}

// After each answer the question on the screen is the one that came next before it, and what is asked before
// another stands in front of it. Another run of the session, from what is recorded, has the same order.
func TestQuestionsThatWaitAreValuedAgain(t *testing.T) {
	b := waiting(t, nil)
	s, stop := b.start(t)
	exchanged := 0
	for i := range 20 {
		before := claim(t, s, "ann")
		mustAnswer(t, s, "ann", reply(before.Open[0], i))
		offer := claim(t, s, "ann")
		if len(offer.Open) != 3 || offer.Open[0].ID != before.Open[1].ID {
			t.Fatalf("answer %d: %v are open, before it %v", i+1, ids(offer), ids(before))
		}
		if next := offer.Open[1]; next.Before != "" {
			exchanged++
			if next.Before != before.Open[2].ID || next.Why.AfterSeq != int64(i+1) {
				t.Errorf("answer %d: %s is asked before %s, after row %d; %v are open, before it %v", i+1, next.ID, next.Before, next.Why.AfterSeq, ids(offer), ids(before))
			}
		}
		if i%4 == 3 {
			stop()
			s, stop = b.start(t)
			if again := claim(t, s, "ann"); !slices.Equal(ids(again), ids(offer)) {
				t.Fatalf("after a restart %v are open, before it %v", ids(again), ids(offer))
			}
		}
	}
	defer stop()
	if exchanged < 5 {
		t.Errorf("%d of 20 questions came before one that waited, want some", exchanged)
	}
}

// The same answers give the same questions and the same posterior, with a restart after each answer or none.
func TestExchangesAreAFunctionOfTheLog(t *testing.T) {
	run := func(restart bool) (record.Record, []byte) {
		b := waiting(t, nil)
		s, stop := b.start(t)
		for i := range 12 {
			if restart {
				stop()
				s, stop = b.start(t)
			}
			mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
		}
		rec := b.record(t, s)
		stop()
		return rec, b.afresh(t, rec)
	}
	calm, belief := run(false)
	torn, again := run(true)
	if !bytes.Equal(belief, again) {
		t.Error("the posterior is another one")
	}
	for i, as := range calm.Assignments {
		if other := torn.Assignments[i]; other.Query.ID != as.Query.ID || other.Before != as.Before {
			t.Fatalf("assignment %d is of query %s before %q, with restarts of %s before %q", i+1, as.Query.ID, as.Before, other.Query.ID, other.Before)
		}
	}
}

// A browser without a network answers what it holds in the order that it knows. Each answer counts, also to a question
// that others were put before meanwhile.
func TestQuestionsThatArePutOffCanBeAnswered(t *testing.T) {
	b := waiting(t, nil)
	s, stop := b.start(t)
	defer stop()
	held := claim(t, s, "ann").Open
	for range 30 {
		mustAnswer(t, s, "ann", reply(held[0], 0))
		now := claim(t, s, "ann").Open
		if now[1].Before == held[2].ID {
			break
		}
		held = now
	}
	before := claim(t, s, "ann")
	for i, as := range held[1:] {
		mustAnswer(t, s, "ann", reply(as, i+1))
	}
	after := claim(t, s, "ann")
	if after.Mine != before.Mine+2 || after.Answers != before.Answers+2 || len(after.Open) != 3 {
		t.Errorf("%d answers of theirs, %d in all, %d open; before it %d and %d", after.Mine, after.Answers, len(after.Open), before.Mine, before.Answers)
	}
	if after.Open[0].ID != before.Open[1].ID {
		t.Errorf("%s comes next, want %s, which was put before what is answered now", after.Open[0].ID, before.Open[1].ID)
	}
}

// A question that was put off for long is not shown any more, and another takes its place. An answer to it counts.
func TestQuestionsThatArePutOffForLong(t *testing.T) {
	b := waiting(t, nil)
	s, stop := b.start(t)
	defer stop()
	shown, long := map[idrl.AssignmentID]int{}, 0
	var gone *record.Assignment
	for i := range 60 {
		offer := claim(t, s, "ann")
		if len(offer.Open) != 3 {
			t.Fatalf("after %d answers %v are open", i, ids(offer))
		}
		for _, as := range offer.Open {
			shown[as.ID]++
			long = max(long, shown[as.ID])
		}
		mustAnswer(t, s, "ann", reply(offer.Open[0], i))
		if last := offer.Open[2]; shown[last.ID] > 9 && !slices.Contains(ids(claim(t, s, "ann")), last.ID) {
			gone = &last
		}
	}
	if long > 14 || gone == nil {
		t.Fatalf("a question waited for %d answers; one was withdrawn: %v", long, gone != nil)
	}
	before := claim(t, s, "ann")
	mustAnswer(t, s, "ann", reply(*gone, 99))
	if after := claim(t, s, "ann"); after.Mine != before.Mine+1 || !slices.Equal(ids(after), ids(before)) {
		t.Errorf("%d answers of theirs and %v open, before it %d and %v", after.Mine, ids(after), before.Mine, ids(before))
	}
}

// A session that compares strategies, holds questions out or draws them asks in the order in which it chose.
func TestSomeQuestionsAreNotExchanged(t *testing.T) {
	for name, change := range map[string]func(*idrl.SessionSpec){
		"held out":  func(s *idrl.SessionSpec) { s.HeldOut = 0.3 },
		"condition": func(s *idrl.SessionSpec) { s.Controls = idrl.Controls{{Strategy: "uniform", Share: 0.5}} },
		"random":    func(s *idrl.SessionSpec) { s.Acquisition = "uniform" },
	} {
		t.Run(name, func(t *testing.T) {
			b := waiting(t, change)
			s, stop := b.start(t)
			defer stop()
			for i := range 10 {
				offer := claim(t, s, "ann")
				for _, as := range offer.Open {
					if as.Before != "" {
						t.Fatalf("%s is asked before %s", as.ID, as.Before)
					}
				}
				mustAnswer(t, s, "ann", reply(offer.Open[0], i))
			}
		})
	}
}

// A question that is put off is not counted as one that will be answered: the last answers of a budget are about
// the questions that are worth the most.
func TestBudgetWithQuestionsThatArePutOff(t *testing.T) {
	b := waiting(t, func(s *idrl.SessionSpec) { s.Budget = 12 })
	s, stop := b.start(t)
	defer stop()
	put := 0
	for i := range 12 {
		offer := claim(t, s, "ann")
		if want := min(3, 12-i); len(offer.Open) != want || offer.Done {
			t.Fatalf("after %d answers %d questions, want %d", i, len(offer.Open), want)
		}
		if i > 9 && offer.Open[0].Before != "" {
			put++
		}
		mustAnswer(t, s, "ann", reply(offer.Open[0], i))
	}
	if offer := claim(t, s, "ann"); !offer.Done || len(offer.Open) > 0 {
		t.Errorf("at the end: %+v", offer)
	}
	if put == 0 {
		t.Error("no question was put before another at the end")
	}
}
