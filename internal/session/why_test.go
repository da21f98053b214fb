package session_test

import (
	"fmt"
	"testing"

	"tiebreak/envs"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/train/trainer"
)

// A question about a state is worth asking for some of the policies that may be
// better, often not for the one whose return is the least certain. Its reason tells
// of those, and never of a pair about which the answer says nothing.
func TestReasonsOfStateRatings(t *testing.T) {
	e, err := envs.Catalogue().Find("gridworld")
	if err != nil {
		t.Fatal(err)
	}
	newEnv := func() idrl.Environment { return e.New(rng.New(3, "layout", 0)) }
	b := newBench(func(s *idrl.SessionSpec) {
		s.Kind, s.Seed, s.Features, s.NoiseStd, s.TieBand = idrl.RateState, 3, newEnv().Spec().FeatureNames, 0.5, 0.125
	})
	spec := b.journal.rec.Spec
	if b.model, err = belief.ForSpec(spec, newEnv()); err != nil {
		t.Fatal(err)
	}
	b.method = method(t, "lvar")
	b.trainer = &trainer.Thompson{NewEnv: newEnv, Solver: solver.Tabular{}, Kind: spec.Kind, Samples: 5, Pool: 30, Mu: solver.Mu}
	s, _ := b.start(t)
	for n := range 12 {
		as := claim(t, s, "ann").Open[0]
		rating := float64(n%5)/2 - 1
		mustAnswer(t, s, "ann", idrl.Answer{ID: idrl.AnswerID(fmt.Sprint("r", n)), Assignment: as.ID, Choice: idrl.Rated, Rating: rating, Input: "api"})
	}
	for _, a := range status(t, s).Recent {
		if w := a.Why; w.First == "" || w.Rivals < 1 || !(w.Info > 1e-4) || !(w.PairStd > 0) {
			t.Errorf("answer %d was asked for %+v", a.Answer.Seq, w)
		}
		sum := 0.0
		for _, s := range a.Why.Shares {
			sum += s.Part
		}
		if a.Why.Shares[0].Policy != a.Why.Second || sum > 1+1e-9 || a.Why.Rivals <= record.MaxShares && sum < 1-1e-9 {
			t.Errorf("answer %d: shares %v of %d rivals, beside %s", a.Answer.Seq, a.Why.Shares, a.Why.Rivals, a.Why.Second)
		}
	}
}
