package session_test

import (
	"fmt"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/floats"

	"tiebreak/envs"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/data/recordings/recordingstest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/session"
	"tiebreak/internal/session/journaltest"
	"tiebreak/internal/session/view"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/training"
)

// landers returns a bench of a session about rollouts of landers, of at most so many steps,
// compared by a return.
func landers(t *testing.T, most int, by string) *bench {
	t.Helper()
	from, into := t.TempDir(), t.TempDir()
	must.Do(t, recordingstest.Landers(from, most))
	set, err := recordings.Import(t.Context(), recordings.Config{From: from, Into: into, Name: "landers"})
	if err != nil {
		t.Fatal(err)
	}
	list, err := envs.NewRollouts(into).List()
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(func(s *idrl.SessionSpec) {
		*s = settings.Complete(idrl.SessionSpec{ID: s.ID, Title: s.Title, Env: list[0].Ref(), Seed: 4, TrainEvery: 5, AdoptAfter: 5, Return: by})
	})
	spec, err := training.Complete(list, b.journal.rec.Spec)
	if err != nil {
		t.Fatal(err)
	}
	b.journal.rec.Spec, b.method = spec, method(t, spec.Acquisition)
	env, err := training.Environment(list, spec)
	if err != nil {
		t.Fatal(err)
	}
	if b.model, err = belief.ForSpec(spec, env); err != nil {
		t.Fatal(err)
	}
	if b.trainer, err = training.New(list, spec); err != nil {
		t.Fatal(err)
	}
	b.averaged = training.Averaged(spec.Kind)
	acted := func(c idrl.Candidate) recordings.Policy {
		p, ok := training.Acted(set, c)
		if !ok {
			t.Fatalf("policy %s acted in no rollout", c.ID)
		}
		return p
	}
	b.title = func(c idrl.Candidate) string { return acted(c).Name() }
	b.steps = func(c idrl.Candidate) float64 { return acted(c).Length() }
	return b
}

// tasted answers n questions by the reward recordingstest.LanderTaste.
func (b *bench) tasted(t *testing.T, s *session.Session, n int) view.Status {
	t.Helper()
	for range n {
		o := claim(t, s, "ann")
		if o.Done {
			t.Fatal("it is done")
		}
		rec := b.record(t, s)
		a := reply(o.Open[0], len(rec.Log))
		if a.Choice = idrl.ChoseB; floats.Dot(recordingstest.LanderTaste, journaltest.Vector(t, rec, o.Open[0].Query).X) > 0 {
			a.Choice = idrl.ChoseA
		}
		mustAnswer(t, s, "ann", a)
	}
	return status(t, s)
}

// codes returns the codes of the objections to a statement.
func codes(st view.Status) (out []string) {
	for _, o := range st.Stopping.Objections {
		out = append(out, o.Code)
	}
	return out
}

// bestOf returns the title of the recommended policy.
func bestOf(st view.Status) string { return st.Candidates[0].Title }

// Where rollouts differ in length, and answers are about parts of one length, policies are
// compared by the mean reward of a step: what the labels like is recommended. That the sum over
// the episode says otherwise is said, and by neither return can one stop.
func TestReturnsThatDisagree(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ by, best string }{
		{idrl.AutoReturn, "lands"}, {idrl.MeanReturn, "lands"}, {idrl.SumReturn, "falls"},
	} {
		t.Run(test.by, func(t *testing.T) {
			b := landers(t, 0, test.by)
			s, stop := b.start(t)
			for range 19 { // there is no moment at which one return is enough
				if st := b.tasted(t, s, 1); st.Stopping.Propose {
					t.Errorf("after %d answers it is proposed to stop: %+v", st.Seq, st.Stopping)
				}
			}
			st := b.tasted(t, s, 1)
			if got := bestOf(st); got != test.best {
				t.Errorf("%s is recommended, want %s", got, test.best)
			}
			if got := codes(st); len(got) != 1 || got[0] != stopping.ByReturns {
				t.Errorf("objections %+v, want one, about the return", st.Stopping.Objections)
			}
			if st.Stopping.Propose || st.Stopping.Left.Known || st.Basis != view.AgainstGiven {
				t.Errorf("%+v against %s, want no proposal and no forecast", st.Stopping, st.Basis)
			}
			if want := stopping.ObjectReturns("lands", "falls"); len(st.Stopping.Objections) > 0 && st.Stopping.Objections[0] != want {
				t.Errorf("it says %q, want %q", st.Stopping.Objections[0].Words, want.Words)
			}
			if o := claim(t, s, "ann"); o.Done || o.Left.Known {
				t.Errorf("the annotator is told %+v of what is left, done %t", o.Left, o.Done)
			}
			stop()
			again, _ := b.start(t)
			if got := status(t, again); fmt.Sprint(got.Stopping, got.Best) != fmt.Sprint(st.Stopping, st.Best) {
				t.Errorf("after a restart %+v, before %+v", got.Stopping, st.Stopping)
			}
		})
	}
}

// Of rollouts of one length both returns say the same, and the session proposes to stop.
func TestReturnsThatAgree(t *testing.T) {
	b := landers(t, 70, idrl.AutoReturn)
	s, _ := b.start(t)
	st := b.tasted(t, s, 40)
	if got := bestOf(st); got == "falls" || got == "spins" {
		t.Errorf("%s is recommended", got)
	}
	if len(st.Stopping.Objections) > 0 || !st.Stopping.Propose {
		t.Errorf("%+v, %.3f sure; want a proposal to stop", st.Stopping, st.Regret[len(st.Regret)-1].Within)
	}
}
