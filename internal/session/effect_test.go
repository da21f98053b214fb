package session_test

import (
	"testing"

	"tiebreak/internal/idrl"
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

// What is left is told by the budget; without one by the rule for stopping, when it knows.
func TestLeft(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.Budget = 12 })
	s, stop := b.start(t)
	defer stop()
	for i := range 5 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	}
	if o := claim(t, s, "ann"); o.Left != (idrl.Forecast{Known: true, Least: 7, About: 7, Most: 7}) {
		t.Errorf("after 5 of 12 answers %+v is left", o.Left)
	}
	free := newBench(nil)
	s2, stop2 := free.start(t)
	defer stop2()
	for i := range 8 {
		o := claim(t, s2, "ann")
		st, err := s2.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := st.Stopping.Left
		if st.Stopping.Propose {
			want = idrl.Forecast{Known: true}
		}
		if o.Left != want {
			t.Errorf("after %d answers %+v is left; the rule says %+v", i, o.Left, want)
		}
		mustAnswer(t, s2, "ann", reply(o.Open[0], i))
	}
}
