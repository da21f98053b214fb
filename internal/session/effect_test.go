package session_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/look/measure"
	"tiebreak/internal/session/view"
)

// Annotators see what was recommended before the first answer and what is recommended now,
// also after a restart, where the researcher allows it and an answer counts.
func TestEffect(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		b := newBench(func(s *idrl.SessionSpec) { s.ShowLearnt = allowed })
		s, stop := b.start(t)
		if o := claim(t, s, "ann"); o.Effect {
			t.Errorf("allowed %t: there is an effect before the first answer", allowed)
		}
		if _, err := s.Effect(t.Context()); idrl.KindOf(err) != idrl.NotFound {
			t.Errorf("allowed %t: before the first answer: %v", allowed, err)
		}
		for i := range 12 {
			mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
		}
		if o := claim(t, s, "ann"); o.Effect != allowed {
			t.Errorf("allowed %t: the offer says %t", allowed, o.Effect)
		}
		e, err := s.Effect(t.Context())
		if !allowed {
			if idrl.KindOf(err) != idrl.NotFound {
				t.Errorf("not allowed: %v", err)
			}
			stop()
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		st, err := s.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if now := st.Candidates[0]; now.ID != string(st.Best) || e.Now != now.Clip || e.Before == "" {
			t.Errorf("effect %+v; the best policy now is shown by %s", e, now.Clip)
		}
		stop()
		s, stop = b.start(t)
		if again, err := s.Effect(t.Context()); err != nil || again != e {
			t.Errorf("after a restart %+v, before %+v; %v", again, e, err)
		}
		stop()
	}
}

// The completion code is given at the end, to those who have answered.
func TestCompletionCode(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.Budget, s.CompletionCode = 3, "C1X2" })
	s, stop := b.start(t)
	defer stop()
	for i := range 3 {
		o := claim(t, s, "ann")
		if o.Code != "" {
			t.Errorf("after %d answers the code is given", i)
		}
		mustAnswer(t, s, "ann", reply(o.Open[0], i))
	}
	if o := claim(t, s, "ann"); !o.Done || o.Code != "C1X2" {
		t.Errorf("at the end: done %t, code %q", o.Done, o.Code)
	}
	if o := claim(t, s, "bob"); !o.Done || o.Code != "" {
		t.Errorf("somebody who has not answered: done %t, code %q", o.Done, o.Code)
	}
}

// What is left is told by the budget; without one by the rule for stopping, when it knows.
func TestLeft(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.Budget = 12 })
	s, stop := b.start(t)
	defer stop()
	for i := range 5 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	}
	if o := claim(t, s, "ann"); o.Left != (stopping.Forecast{Known: true, Least: 7, About: 7, Most: 7}) {
		t.Errorf("after 5 of 12 answers %+v is left", o.Left)
	}
	free := newBench(nil)
	s2, stop2 := free.start(t)
	defer stop2()
	for i := range 8 {
		o := claim(t, s2, "ann")
		st := must.Get(s2.Status(t.Context()))(t)
		want := st.Stopping.Left
		if st.Stopping.Propose {
			want = stopping.Forecast{Known: true}
		}
		if o.Left != want {
			t.Errorf("after %d answers %+v is left; the rule says %+v", i, o.Left, want)
		}
		mustAnswer(t, s2, "ann", reply(o.Open[0], i))
	}
}

// Annotators see their own last ten answers, and any of them can be withdrawn: then it is
// asked again before all others.
func TestGiven(t *testing.T) {
	b := newBench(nil)
	s, stop := b.start(t)
	defer stop()
	var mine []record.Assignment
	for i := range 12 {
		as := claim(t, s, "ann").Open[0]
		mustAnswer(t, s, "ann", reply(as, i))
		mine = append(mine, as)
	}
	given, err := s.Given(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	if len(given) != 10 {
		t.Fatalf("%d answers are listed, want 10", len(given))
	}
	for k, g := range given {
		as, want := mine[11-k], reply(mine[11-k], 11-k)
		if g.ID != want.ID || g.Choice != want.Choice || g.Left != as.Left || !slices.Equal(g.Clips, as.Query.Clips) {
			t.Errorf("answer %d is listed as %+v, want %+v about %v", k, g, want, as.Query.Clips)
		}
	}
	if others, err := s.Given(t.Context(), "bob"); err != nil || len(others) != 0 {
		t.Errorf("somebody else sees %v, %v", others, err)
	}
	must.Get(s.Undo(t.Context(), "ann", "undo1", given[6].ID))(t)
	o := claim(t, s, "ann")
	if first := o.Open[0]; first.Query.ID != mine[5].Query.ID || first.Left != mine[5].Left {
		t.Errorf("after a change the first question is %+v, want %s on the same sides", first, mine[5].Query.ID)
	}
	if given, err = s.Given(t.Context(), "ann"); err != nil || len(given) != 10 || given[6].ID == reply(mine[5], 5).ID {
		t.Errorf("the withdrawn answer is still listed: %v, %v", given, err)
	}
}

// The offer says how many answers the policies in use are not trained from, and whether a
// training from them comes: after the last answer it does, and then none is left.
func TestLearningAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, gate := newBench(func(s *idrl.SessionSpec) { s.Budget, s.TrainEvery, s.AdoptAfter = 6, 4, 0 }), make(chan struct{})
		b.trainer = trainerFunc(func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
			if !job.First {
				<-gate
			}
			return fakeTrainer{d: dim}.Train(ctx, job)
		})
		s, stop := b.start(t)
		defer stop()
		synctest.Wait()
		for i := range 6 {
			want := view.Learning{Answers: i, Untrained: i > 0, Running: i >= 4}
			if i > 0 && i < 4 {
				want.Why = "They are learnt from when more answers have come."
			}
			if got := claim(t, s, "ann").Learning; got != want {
				t.Errorf("after %d answers %+v, want %+v", i, got, want)
			}
			mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
		}
		if o := claim(t, s, "ann"); !o.Done || o.Learning != (view.Learning{Answers: 6, Untrained: true, Running: true}) {
			t.Errorf("at the end: done %t, %+v", o.Done, o.Learning)
		}
		gate <- struct{}{}
		synctest.Wait()
		if o := claim(t, s, "ann"); o.Learning != (view.Learning{Answers: 2, Running: true}) {
			t.Errorf("once answer 4 is learnt from: %+v", o.Learning)
		}
		gate <- struct{}{}
		synctest.Wait()
		if o := claim(t, s, "ann"); o.Learning != (view.Learning{}) {
			t.Errorf("once all are: %+v", o.Learning)
		}
	})
}

// What is recommended looks as before the first answer if its clip is the same, or one that a
// person takes for the same.
func TestEffectThatLooksTheSame(t *testing.T) {
	b := sighted(t, "gridworld", idrl.CompareClips, func(s *idrl.SessionSpec) { s.ShowLearnt = true })
	s, stop := b.start(t)
	defer stop()
	seen := map[bool]int{}
	for n := range 9 {
		o := claim(t, s, "ann")
		if o.Effect {
			e, err := s.Effect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			v := b.views(t, idrl.Query{Clips: []idrl.ClipID{e.Before, e.Now}})
			want, err := measure.Alike(v[0], v[1])
			if err != nil || o.Same != want {
				t.Errorf("after %d answers the offer says that they look the same: %t, want %t (%v)", n, o.Same, want, err)
			}
			seen[o.Same]++
		} else if o.Same {
			t.Errorf("after %d answers there is nothing to see, and it looks the same", n)
		}
		a := reply(o.Open[0], n)
		if n < 3 { // which changes no mean
			a.Choice = idrl.Equal
		}
		mustAnswer(t, s, "ann", a)
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("looks the same or not: %v; this test tells nothing apart", seen)
	}
}
