package session_test

import (
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
)

// leaveOut starts a session in which "bad" has given an answer and holds questions, and is left
// out.
func leaveOut(t *testing.T, budget int) (b *bench, s *session.Session, stop func()) {
	t.Helper()
	b = newBench(func(s *idrl.SessionSpec) { s.Budget, s.Ahead, s.TrainEvery = budget, 3, 1000 })
	s, stop = b.start(t)
	mustAnswer(t, s, "bad", reply(claim(t, s, "bad").Open[0], 0))
	b.want(budget, record.Settings{LeftOut: []idrl.AnnotatorID{"bad"}})
	follow(t, s)
	if o := claim(t, s, "bad"); len(o.Open) != 3 || o.Answers != 0 {
		t.Fatalf("who is left out holds %d questions, %d answers count; want 3 and 0", len(o.Open), o.Answers)
	}
	return b, s, stop
}

// Questions that a person holds whose answers do not count use up no answers wanted, so that
// others complete the session, also after a restart.
func TestLeftOutHoldsNoBudget(t *testing.T) {
	const budget = 6
	b, s, stop := leaveOut(t, budget)
	for n := 1; n <= 2*budget; n += 2 {
		mustAnswer(t, s, "bad", reply(claim(t, s, "bad").Open[0], n))
		o := must.Get(s.Claim(t.Context(), "good"))(t)
		if want := min(3, budget-o.Answers); len(o.Open) != want || o.Waiting != "" {
			t.Fatalf("after %d of %d answers there are %d questions, want %d; waiting %q", o.Answers, budget, len(o.Open), want, o.Waiting)
		}
		mustAnswer(t, s, "good", reply(o.Open[0], n+1))
		stop()
		s, stop = b.start(t)
	}
	if o := claim(t, s, "good"); !o.Done || o.Answers != budget {
		t.Errorf("%d of %d answers, done %v", o.Answers, budget, o.Done)
	}
}

// Once a person is taken in again, the questions that they hold use up answers wanted as those
// of others do.
func TestTakenInHoldsBudget(t *testing.T) {
	b, s, _ := leaveOut(t, 5)
	b.want(5, record.Settings{})
	follow(t, s)
	if o := claim(t, s, "good"); o.Answers != 1 || len(o.Open) != 1 {
		t.Errorf("%d answers, and %d questions; want 1 each, beside 3 that another person holds", o.Answers, len(o.Open))
	}
	o, err := s.Claim(t.Context(), "late")
	if err != nil || len(o.Open) > 0 || o.Waiting != "Other annotators are answering the last questions of this session." {
		t.Errorf("%d questions, waiting %q, %v", len(o.Open), o.Waiting, err)
	}
}

// Others are asked as if a person who is left out held no questions; that person is asked none
// that they hold.
func TestLeftOutHoldsNoQuestions(t *testing.T) {
	asked := func(live bool) (ids []idrl.QueryID) {
		b, s, _ := leaveOut(t, 0)
		if !live {
			b.clock.advance(time.Hour) // the leases end
		}
		for _, as := range claim(t, s, "good").Open {
			ids = append(ids, as.Query.ID)
		}
		return ids
	}
	if diff := cmp.Diff(asked(false), asked(true)); diff != "" {
		t.Errorf("questions (-nobody else holds any +who is left out holds three):\n%s", diff)
	}
	_, s, _ := leaveOut(t, 0)
	for n := 1; n <= 6; n++ {
		open := claim(t, s, "bad").Open
		holds := map[idrl.QueryID]bool{}
		for _, as := range open {
			if holds[as.Query.ID] {
				t.Errorf("after %d answers question %s is open twice", n, as.Query.ID)
			}
			holds[as.Query.ID] = true
		}
		mustAnswer(t, s, "bad", reply(open[0], n))
	}
}
