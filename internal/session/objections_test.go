package session_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/session"
	"tiebreak/internal/session/view"
)

// Before a generation that was trained on this session's answers is in use, the session proposes
// nothing and does not say that more answers change little, also where the statement is sure.
func TestNothingIsEnoughBeforeATraining(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.Tolerance, s.Doubt, s.TrainEvery, s.AdoptAfter = 0.999, 0.999, 1, 0 })
	gate := make(chan struct{}, 100)
	gate <- struct{}{}
	b.trainer = fakeTrainer{d: dim, gate: gate}
	s, stop := b.start(t)
	for i := range 15 {
		o := claim(t, s, "ann")
		if o.Left.Known {
			t.Errorf("after %d answers the annotator is told %+v", i, o.Left)
		}
		mustAnswer(t, s, "ann", reply(o.Open[0], i))
	}
	for _, when := range []string{"at once", "after a restart"} {
		st := status(t, s)
		if got := codes(st); !slices.Equal(got, []string{stopping.ByUntrained}) || st.Stopping.Propose || st.Stopping.Held != 3 {
			t.Errorf("%s: %+v, want that nothing was trained", when, st.Stopping)
		}
		stop()
		s, stop = b.start(t)
	}
	gate <- struct{}{}
	st := adopted(t, s)
	if len(st.Stopping.Objections) > 0 || !st.Stopping.Propose {
		t.Errorf("once a generation is trained: %+v, want a proposal", st.Stopping)
	}
	if o := claim(t, s, "ann"); !o.Left.Known || o.Left.About != 0 {
		t.Errorf("the annotator is told %+v", o.Left)
	}
}

// adopted returns the status once a generation is in use that was trained after the first answer.
func adopted(t *testing.T, s *session.Session) view.Status {
	t.Helper()
	for {
		if st := status(t, s); st.BasedOn > 0 {
			return st
		}
		if t.Context().Err() != nil {
			t.Fatal("no generation came into use")
		}
	}
}

// Policies are called the best there are only where an exact solver found them for posteriors of
// this session's answers.
func TestBasisOfExactSolves(t *testing.T) {
	for _, exact := range []bool{true, false} {
		b := newBench(func(s *idrl.SessionSpec) { s.TrainEvery, s.AdoptAfter = 1, 1 })
		b.trainer, b.exact = pooledTrainer{fakeTrainer{d: dim}, pool(4)}, exact
		s, _ := b.start(t)
		claim(t, s, "ann")
		if st := status(t, s); st.Basis != view.AgainstPool {
			t.Errorf("exact %t, before the first answer: against %s", exact, st.Basis)
		}
		for i := range 2 {
			mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
		}
		want := map[bool]view.Basis{true: view.AgainstOptima, false: view.AgainstPool}[exact]
		if st := status(t, s); st.Basis != want {
			t.Errorf("exact %t: against %s, want %s", exact, st.Basis, want)
		}
	}
}

// alive makes generations whose clips are all of one length, as feature z counts it, and whose
// policies live longer the less they have of x.
func alive(basedOn int64) idrl.Generation {
	g := idrl.Generation{BasedOn: basedOn, Clips: map[idrl.ClipID]idrl.Clip{}}
	var clips []idrl.Clip
	for k := range 6 {
		x, y := 4*float64(k)-10, 10*math.Cos(float64(k))
		c := idrl.Clip{ID: idrl.ClipID(fmt.Sprintf("clip-%d", k)), Steps: 5, Phi: []float64{x, y, 5}}
		clips, g.Clips[c.ID] = append(clips, c), c
		g.Candidates = append(g.Candidates, idrl.Candidate{
			ID: idrl.PolicyID(fmt.Sprintf("g%d.p%d", basedOn, k)), Origin: idrl.FromSample, Params: []float64{float64(k)},
			Theta: []float64{1, 0, 0}, Mu: []float64{x, y, 40 - 8*float64(k)}, Clip: c.ID,
		})
	}
	for i, a := range clips {
		for _, b := range clips[:i] {
			g.Queries = append(g.Queries, idrl.NewComparison(a, b))
		}
	}
	return g
}

// Answers about clips of one length say nothing of the weight of a feature that counts steps;
// where that decides between policies, it is said and nothing is proposed.
func TestLengthThatWasNotAskedAbout(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) {
		s.TrainEvery, s.AdoptAfter, s.Features = 1, 1, []string{"x", "y", "alive"}
	})
	b.trainer = trainerFunc(func(_ context.Context, job idrl.TrainJob) (idrl.Generation, error) { return alive(job.BasedOn), nil })
	b.model.Start = belief.Isotropic(dim, 1)
	s, _ := b.start(t)
	for i := range 25 {
		as := claim(t, s, "ann").Open[0]
		a := reply(as, i)
		if a.Choice = idrl.ChoseB; as.Query.Clips[0] > as.Query.Clips[1] { // the one with more x
			a.Choice = idrl.ChoseA
		}
		mustAnswer(t, s, "ann", a)
	}
	st := status(t, s)
	if got := codes(st); !slices.Equal(got, []string{stopping.ByUnasked}) || st.Stopping.Propose || st.Stopping.Left.Known {
		t.Fatalf("%+v, want that a weight was not asked about", st.Stopping)
	}
	if want := stopping.ObjectUnasked(string(st.Best), "g24.p0", "alive"); st.Stopping.Objections[0] != want {
		t.Errorf("it says %q, want %q", st.Stopping.Objections[0].Words, want.Words)
	}
}
