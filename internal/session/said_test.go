package session_test

import (
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/session"
	"tiebreak/internal/study/settings"

	"gonum.org/v1/gonum/stat/distuv"
)

// saying is a session that asks for all that annotators may say beside a choice.
func saying(t *testing.T) *bench {
	return modelled(t, func(s *idrl.SessionSpec) {
		s.NoiseStd, s.TieBand, s.Strength, s.MuchBand, s.Remarks = noise, band, true, 2, true
	})
}

// sayMore is say with what is said beside the choice.
func (b *bench) sayMore(t *testing.T, s *session.Session, n int, more idrl.Answer) (q idrl.Query, m, v float64) {
	t.Helper()
	as := claim(t, s, "ann").Open[0]
	a := reply(as, n)
	a.Choice, a.Much, a.Remark = more.Choice, more.Much, more.Remark
	mustAnswer(t, s, "ann", a)
	m, v = b.of(t, s, as.Query)
	return as.Query, m, v
}

// "Much better" moves the belief as its own answer does, with the much width of the
// session, and an undo takes it back whole.
func TestMuchBetter(t *testing.T) {
	b := saying(t)
	s, _ := b.start(t)
	q, m, v := b.sayMore(t, s, 1, idrl.Answer{Choice: idrl.ChoseA})
	_, m1, v1 := b.sayMore(t, s, 2, idrl.Answer{Choice: idrl.ChoseA, Much: true})
	wantM, wantV := weighed(m, v, func(u float64) float64 { return distuv.UnitNormal.CDF((u - 2) / noise) })
	if math.Abs(m1-wantM) > 1e-8 || math.Abs(v1-wantV) > 1e-8 {
		t.Errorf("after \"much better\" the difference is %v with variance %v, want %v with %v", m1, v1, wantM, wantV)
	}
	given, err := s.Given(t.Context(), "ann")
	if err != nil || len(given) != 2 || !given[0].Much || given[1].Much {
		t.Errorf("given %+v, error %v, want the last one much better", given, err)
	}
	must.Get(s.Undo(t.Context(), "ann", "undo-2", "answer-2"))(t)
	if back, left := b.of(t, s, q); back != m || left != v {
		t.Errorf("after the undo the difference is %v with variance %v, want %v with %v", back, left, m, v)
	}
}

// A remark goes with its answer: the same belief after a restart as without one, after an
// undo as before, and without its annotator as without the answer.
func TestRemarkGoesWithItsAnswer(t *testing.T) {
	b := saying(t)
	s, stop := b.start(t)
	b.sayMore(t, s, 1, idrl.Answer{Choice: idrl.ChoseA})
	before := b.lastBelief(t, s)
	b.sayMore(t, s, 2, idrl.Answer{Choice: idrl.Equal, Remark: idrl.BothBad})
	with := b.lastBelief(t, s)
	if string(with) == string(before) {
		t.Fatal("the remark changed nothing")
	}
	if got := b.afresh(t, b.record(t, s)); string(got) != string(with) {
		t.Error("the log gives another belief than the session has")
	}
	stop()
	s, _ = b.start(t)
	must.Get(s.Undo(t.Context(), "ann", "undo-2", "answer-2"))(t)
	if got := b.lastBelief(t, s); string(got) != string(before) {
		t.Error("the undo left something of the remark")
	}
	b.sayMore(t, s, 3, idrl.Answer{Choice: idrl.Equal, Remark: idrl.BothBad})
	if got := b.lastBelief(t, s); string(got) != string(with) {
		t.Error("the same said again gives another belief")
	}
	if given, err := s.Given(t.Context(), "ann"); err != nil || given[0].Remark != idrl.BothBad {
		t.Errorf("given %+v, error %v, want the remark", given, err)
	}
}

// lastBelief returns the belief after the last row, as it is recorded.
func (b *bench) lastBelief(t *testing.T, s *session.Session) []byte {
	t.Helper()
	snapshots := b.record(t, s).Snapshots
	return snapshots[len(snapshots)-1].Belief
}

// A session takes only what it asks for, and what goes with the choice.
func TestSaidTooMuch(t *testing.T) {
	plain := modelled(t, func(*idrl.SessionSpec) {})
	for _, test := range []struct {
		name string
		b    *bench
		more idrl.Answer
	}{
		{"strength that is not asked for", plain, idrl.Answer{Choice: idrl.ChoseA, Much: true}},
		{"a remark that is not asked for", plain, idrl.Answer{Choice: idrl.ChoseA, Remark: idrl.BothBad}},
		{"much equal", saying(t), idrl.Answer{Choice: idrl.Equal, Much: true}},
		{"an unknown remark", saying(t), idrl.Answer{Choice: idrl.ChoseA, Remark: "both_odd"}},
		{"a remark about what cannot be told", saying(t), idrl.Answer{Choice: idrl.CantTell, Remark: idrl.BothGood}},
	} {
		s, stop := test.b.start(t)
		a := reply(claim(t, s, "ann").Open[0], 1)
		a.Choice, a.Much, a.Remark = test.more.Choice, test.more.Much, test.more.Remark
		if _, err := s.Answer(t.Context(), "ann", a); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error %v, want one of kind Invalid", test.name, err)
		}
		stop()
	}
	b := saying(t)
	s, _ := b.start(t)
	a := reply(claim(t, s, "ann").Open[0], 1)
	mustAnswer(t, s, "ann", a)
	a.Much = true
	if _, err := s.Answer(t.Context(), "ann", a); idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("the same id with another strength: error %v, want one of kind Conflict", err)
	}
}

func TestSpecOfWhatIsSaid(t *testing.T) {
	for _, test := range []struct {
		name string
		spec idrl.SessionSpec
		ok   bool
	}{
		{"both", idrl.SessionSpec{Strength: true, Remarks: true}, true},
		{"logistic", idrl.SessionSpec{Strength: true, Remarks: true, Likelihood: "bradley-terry"}, true},
		{"stills", idrl.SessionSpec{Strength: true, Remarks: true, Kind: idrl.CompareStates}, true},
		{"strength on a network", idrl.SessionSpec{Strength: true, Model: idrl.NetworkModel}, true},
		{"remarks on a network", idrl.SessionSpec{Remarks: true, Model: idrl.NetworkModel}, false},
		{"ratings", idrl.SessionSpec{Strength: true, Kind: idrl.RateClip}, false},
		{"remarks on ratings", idrl.SessionSpec{Remarks: true, Kind: idrl.RateState}, false},
		{"the paper's ±1", idrl.SessionSpec{Strength: true, Likelihood: "gaussian"}, false},
		{"a band within ties", idrl.SessionSpec{Strength: true, TieBand: 2, MuchBand: 1}, false},
		{"a band without strength", idrl.SessionSpec{MuchBand: 1}, false},
		{"no number", idrl.SessionSpec{Strength: true, MuchBand: math.NaN()}, false},
	} {
		test.spec.Title, test.spec.Env = "t", "none"
		spec := settings.Complete(test.spec)
		err := settings.Check(spec)
		if (err == nil) != test.ok || err != nil && idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error %v", test.name, err)
		}
		if err == nil && spec.Model == idrl.FeaturesModel {
			if _, err := belief.ForSpec(spec, env{}); err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
		}
	}
}
