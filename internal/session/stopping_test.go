package session_test

import (
	"errors"
	"reflect"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/session"
)

// lenient returns a bench whose statement holds after every answer.
func lenient(byItself bool) *bench {
	return newBench(func(s *idrl.SessionSpec) {
		s.Tolerance, s.Doubt, s.StopByItself, s.TrainEvery, s.AdoptAfter = 0.999, 0.999, byItself, 1, 1
	})
}

func stoppingOf(t *testing.T, s *session.Session) stopping.Stopping {
	t.Helper()
	st := must.Get(s.Status(t.Context()))(t)
	return st.Stopping
}

// The session proposes to stop after three answers in a row. Skipped questions do not
// count; a withdrawal takes back what it withdraws; all of it survives restarts.
func TestProposesToStop(t *testing.T) {
	b := lenient(false)
	s, stop := b.start(t)
	n := 0
	give := func(choice idrl.Choice) idrl.AnswerID {
		t.Helper()
		a := reply(claim(t, s, "ann").Open[0], n)
		a.Choice = choice
		mustAnswer(t, s, "ann", a)
		n++
		return a.ID
	}
	held := func(when string, want int) {
		t.Helper()
		got := stoppingOf(t, s)
		if got.Held != want || got.Propose != (want == 3) {
			t.Errorf("%s: %+v, want %d", when, got, want)
		}
		stop()
		s, stop = b.start(t)
		if again := stoppingOf(t, s); !reflect.DeepEqual(again, got) {
			t.Errorf("%s: after a restart %+v, before %+v", when, again, got)
		}
	}
	undo := func(id idrl.AnswerID) {
		t.Helper()
		must.Get(s.Undo(t.Context(), "ann", "undo-"+id, id))(t)
	}
	claim(t, s, "ann") // waits for the first generation
	held("before the first answer", 0)
	first := give(idrl.ChoseA)
	give(idrl.CantTell)
	give(idrl.ChoseB)
	held("two answers", 2)
	third := give(idrl.Equal)
	held("three answers", 3)
	undo(third)
	held("the third withdrawn", 2)
	give(idrl.ChoseA)
	held("three again", 3)
	undo(first)
	held("the first withdrawn: what was stated since was about it too", 0)
	give(idrl.ChoseA)
	give(idrl.ChoseA)
	held("two since", 2)
	give(idrl.ChoseA)
	held("three since", 3)
	if o := claim(t, s, "ann"); o.Done || len(o.Open) == 0 {
		t.Errorf("%+v: it only proposes", o)
	}
}

// A session that stops by itself hands out no more questions, and goes on when an
// answer is withdrawn.
func TestStopsByItself(t *testing.T) {
	b := lenient(true)
	s, stop := b.start(t)
	var last idrl.AnswerID
	for n := range 3 {
		o := claim(t, s, "ann")
		if o.Done {
			t.Fatalf("done after %d answers", n)
		}
		a := reply(o.Open[0], n)
		mustAnswer(t, s, "ann", a)
		last = a.ID
	}
	for _, when := range []string{"at once", "after a restart"} {
		if o, err := s.Claim(t.Context(), "ann"); err != nil || !o.Done || len(o.Open) != 0 {
			t.Errorf("%s: %+v, %v; want it done", when, o, err)
		}
		stop()
		s, stop = b.start(t)
	}
	must.Get(s.Undo(t.Context(), "ann", "undo", last))(t)
	if o := claim(t, s, "ann"); o.Done || len(o.Open) == 0 {
		t.Errorf("after a withdrawal: %+v, want questions", o)
	}
}

// A row that cannot be recorded leaves no statement behind.
func TestStoppingIsDurableOrNothing(t *testing.T) {
	b := lenient(true)
	s, _ := b.start(t)
	for n := range 2 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], n))
	}
	before := must.Get(s.Status(t.Context()))(t)
	third := reply(claim(t, s, "ann").Open[0], 2)
	b.journal.fails(errors.New("disk full"))
	if _, err := s.Answer(t.Context(), "ann", third); err == nil {
		t.Error("no error although nothing was recorded")
	}
	after := must.Get(s.Status(t.Context()))(t)
	if diff := cmp.Diff(before.Regret, after.Regret); diff != "" || !reflect.DeepEqual(before.Stopping, after.Stopping) {
		t.Errorf("%+v, before %+v; regret (-before +after):\n%s", after.Stopping, before.Stopping, diff)
	}
	b.journal.fails(nil)
	mustAnswer(t, s, "ann", third)
	if !stoppingOf(t, s).Propose {
		t.Error("the rule is not met after the third answer")
	}
}

// Annotators are done where the session proposes to stop and nothing else ends it: not where there is a
// number of answers to reach, and not where the researcher wants them to be asked on, who are then told nothing.
func TestAnnotatorsAreDoneByTheRule(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*idrl.SessionSpec)
		enough bool // after the tenth answer
		told   bool // that more answers change little, after the third
	}{
		{"by default", func(*idrl.SessionSpec) {}, true, true},
		{"asked on", func(s *idrl.SessionSpec) { s.AskOn = true }, false, false},
		{"answers wanted", func(s *idrl.SessionSpec) { s.Budget = 20 }, false, false},
		{"a part each", func(s *idrl.SessionSpec) { s.AnswersEach = 20 }, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(func(s *idrl.SessionSpec) {
				s.Tolerance, s.Doubt, s.TrainEvery, s.AdoptAfter, s.CompletionCode = 0.999, 0.999, 1, 1, "TB-1"
				test.change(s)
			})
			s, _ := b.start(t)
			for i := range 12 {
				o, st := claim(t, s, "ann"), status(t, s)
				enough := test.enough && i >= 10
				if o.Enough != enough || o.Enough && !st.Stopping.Propose || (o.Code != "") != enough {
					t.Errorf("after %d answers enough is %t, with the code %q, and the dashboard says %+v", i, o.Enough, o.Code, st.Stopping)
				}
				if told := o.Left.Known && o.Left.About == 0; i >= 3 && told != test.told {
					t.Errorf("after %d answers about %+v are left", i, o.Left)
				}
				if len(o.Open) == 0 || o.Done {
					t.Fatalf("after %d answers nothing is asked: %+v", i, o)
				}
				mustAnswer(t, s, "ann", reply(o.Open[0], i))
			}
		})
	}
}
