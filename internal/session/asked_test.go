package session_test

import (
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/insight"
)

// What a question was asked for is recorded with it, and shown as it was: later answers and
// candidates change nothing of it.
func TestWhatAQuestionWasAskedFor(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) {
		s.Acquisition, s.Controls, s.HeldOut = "lvar", idrl.Controls{{Strategy: "uniform", Share: 0.2}}, 0.2
		s.RepeatEvery, s.GoldEvery = 10, 6
	})
	b.method = method(t, "lvar")
	s, _ := b.start(t)
	claim(t, s, "ann")
	set := idrl.Settings{Gold: idrl.GoldSettings{Questions: known(b.record(t, s), 8)}}
	b.want(0, set)
	follow(t, s)
	asked, count := map[idrl.AssignmentID]idrl.Assignment{}, map[idrl.Purpose]int{}
	for n := range 60 {
		as := claim(t, s, "ann").Open[0]
		asked[as.ID] = as
		count[as.Why.Purpose]++
		if want := purposeOf(as, asked); as.Why.Purpose != want {
			t.Errorf("question %d is asked for %q, want %q", as.N, as.Why.Purpose, want)
		}
		if p, told := as.Why.Best[0].P(); told != (as.Why.First != "") || told && p == 0 && as.Why.Best[1] == 0 {
			t.Errorf("question %d about %q: probabilities %v", as.N, as.Why.First, as.Why.Best)
		}
		mustAnswer(t, s, "ann", reply(as, n))
	}
	for _, p := range []idrl.Purpose{idrl.ForValue, idrl.AtRandom, idrl.ForHeldOut, idrl.ForGold, idrl.ForRepeat} {
		if count[p] == 0 {
			t.Errorf("no question is asked for %q", p)
		}
	}
	list, _, err := s.Questions(t.Context(), insight.Wanted{N: 50, Best: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range list {
		was := asked[q.Assignment.ID].Why
		if q.Assignment.Why != was {
			t.Errorf("question %d was asked for %+v, and is shown as asked for %+v", q.Assignment.N, was, q.Assignment.Why)
		}
		for i, p := range q.Policies {
			if p.Then != was.Best[i] {
				t.Errorf("question %d: policy %s was the best with %v, shown %v", q.Assignment.N, p.ID, was.Best[i], p.Then)
			}
		}
	}
}

// purposeOf derives the purpose of the last question from what else is known of it.
func purposeOf(as idrl.Assignment, asked map[idrl.AssignmentID]idrl.Assignment) idrl.Purpose {
	for _, old := range asked {
		if old.Query.ID == as.Query.ID && old.N < as.N && old.Left != as.Left && as.Gold == 0 && as.N%10 == 0 {
			return idrl.ForRepeat
		}
	}
	switch {
	case as.Gold > 0:
		return idrl.ForGold
	case as.Condition == idrl.HeldOut:
		return idrl.ForHeldOut
	case as.Condition == "uniform":
		return idrl.AtRandom
	}
	return idrl.ForValue
}

// A question that is asked again after a withdrawal keeps what it was asked for.
func TestAskedAgainForTheSame(t *testing.T) {
	b := newBench(nil)
	b.method = method(t, "lvar")
	s, _ := b.start(t)
	as := claim(t, s, "ann").Open[0]
	mustAnswer(t, s, "ann", reply(as, 1))
	if _, err := s.Undo(t.Context(), "ann", "u", "answer-1"); err != nil {
		t.Fatal(err)
	}
	again := claim(t, s, "ann").Open[0]
	if again.Reopens != "answer-1" || again.Why != as.Why || again.Why.Purpose != idrl.ForValue {
		t.Errorf("asked for %+v, then for %+v", as.Why, again.Why)
	}
}

// The scores of conditions say how many answers they leave out because their pair had been
// answered: planned repeats.
func TestRepeatsAreNotScored(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { several(s); s.RepeatEvery, s.HeldOut = 4, 0.5 })
	s, _ := b.start(t)
	replies, again := 0, 0
	for n := range 60 {
		as := claim(t, s, "ann").Open[0]
		if as.Condition == idrl.HeldOut {
			if replies++; as.Why.Purpose == idrl.ForRepeat {
				again++
			}
		}
		mustAnswer(t, s, "ann", reply(as, n))
	}
	got, err := s.Conditions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, _ := got.All.Last()
	if again == 0 || got.Again != again || got.Replies != replies || p.Answered != replies-again {
		t.Errorf("%d answers, %d of them again, %d scored; want %d, %d and the rest", got.Replies, got.Again, p.Answered, replies, again)
	}
}
