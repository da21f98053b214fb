package session_test

import (
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/session"
	"tiebreak/internal/session/journaltest"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/stat/distuv"
)

// env is an environment of which only the spec matters.
type env struct{ idrl.Environment }

func (env) Spec() idrl.EnvSpec {
	return idrl.EnvSpec{ID: "none", FeatureNames: []string{"x", "y", "z"}}
}

// weighed returns the mean and variance of N(m, v) once it is weighed by p, by
// the trapezoid rule, which is exact to rounding for smooth functions that
// vanish at both ends.
func weighed(m, v float64, p func(u float64) float64) (mean, variance float64) {
	prior := distuv.Normal{Mu: m, Sigma: math.Sqrt(v)}
	const step = 1e-3
	var sum, first, second float64
	for z := -10.0; z <= 10; z += step {
		u := m + z*prior.Sigma
		w := prior.Prob(u) * p(u)
		sum, first, second = sum+w, first+w*u, second+w*u*u
	}
	mean = first / sum
	return mean, second/sum - mean*mean
}

// of returns the mean and variance of θ·x under the belief after the last row.
func (b *bench) of(t *testing.T, s *session.Session, q idrl.Query) (m, v float64) {
	t.Helper()
	rec := b.record(t, s)
	snapshots := rec.Snapshots
	p := must.Get(b.model.Decode(snapshots[len(snapshots)-1].Belief))(t)
	return idrl.Moments(p, journaltest.Vector(t, rec, q).X, p.Mean(nil), make([]float64, dim))
}

// Of the sessions below: noise and tie band, in units of θ·x.
const (
	noise = 2.0
	band  = 0.9
)

// afterEqual returns by likelihood the mean and variance that 'equal' leaves of u ~
// N(m, v). With a tie band that is N(m, v) weighed by P(equal | u); without one
// the answer counts as the number 0 with Gaussian noise, whose variance is under
// "bernoulli" E[1 − u²], but no less than a quarter.
func afterEqual(name string, m, v float64) (mean, variance float64) {
	number := func(noiseVar float64) (float64, float64) {
		return m * noiseVar / (v + noiseVar), v * noiseVar / (v + noiseVar)
	}
	switch name {
	case "probit":
		return weighed(m, v, func(u float64) float64 {
			return distuv.UnitNormal.CDF((band-u)/noise) - distuv.UnitNormal.CDF((-band-u)/noise)
		})
	case "bradley-terry":
		logistic := func(u float64) float64 { return 1 / (1 + math.Exp(-math.Sqrt(8/math.Pi)/noise*u)) }
		return weighed(m, v, func(u float64) float64 { return 1 - logistic(u-band) - logistic(-u-band) })
	case "gaussian":
		return number(belief.PaperNoiseVar)
	case "bernoulli":
		return number(max(1-m*m-v, 0.25))
	}
	return math.NaN(), math.NaN()
}

// modelled returns a bench whose model is the one that the spec asks for, and
// that asks one question again and again.
func modelled(t *testing.T, change func(*idrl.SessionSpec)) *bench {
	t.Helper()
	b := newBench(func(s *idrl.SessionSpec) { s.PriorVar, s.Ahead, s.TrainEvery = 0.4, 1, 1000; change(s) })
	var err error
	if b.model, err = belief.ForSpec(b.journal.rec.Spec, env{}); err != nil {
		t.Fatal(err)
	}
	b.trainer = fewTrainer{1}
	return b
}

// say gives answer n to the question that is open, and returns what the belief
// then is about it.
func (b *bench) say(t *testing.T, s *session.Session, n int, c idrl.Choice) (q idrl.Query, m, v float64) {
	t.Helper()
	as := claim(t, s, "ann").Open[0]
	a := reply(as, n)
	a.Choice = c
	mustAnswer(t, s, "ann", a)
	m, v = b.of(t, s, as.Query)
	return as.Query, m, v
}

// Whatever the likelihood, 'equal' draws the returns of two clips together and
// makes their difference less uncertain, and an undo takes it back whole.
func TestEqual(t *testing.T) {
	for _, name := range idrl.Likelihoods() {
		t.Run(name, func(t *testing.T) {
			b := modelled(t, func(s *idrl.SessionSpec) { s.Likelihood, s.NoiseStd, s.TieBand = name, noise, band })
			s, stop := b.start(t)
			q, m, v := b.say(t, s, 1, idrl.ChoseA)
			if !(m > 0) {
				t.Fatalf("after a the difference is %v, want it above 0", m)
			}
			_, m1, v1 := b.say(t, s, 2, idrl.Equal)
			wantM, wantV := afterEqual(name, m, v)
			if !scalar.EqualWithinRel(m1, wantM, 1e-8) || !scalar.EqualWithinRel(v1, wantV, 1e-8) {
				t.Errorf("after 'equal' the difference is %v with variance %v, want %v with %v", m1, v1, wantM, wantV)
			}
			stop()
			s, _ = b.start(t) // the belief is kept
			_, m2, v2 := b.say(t, s, 3, idrl.Equal)
			if !(0 < m2 && m2 < m1 && m1 < m && v2 < v1 && v1 < v) {
				t.Errorf("the differences are %v, %v, %v with variances %v, %v, %v, want both to fall", m, m1, m2, v, v1, v2)
			}
			for _, n := range []string{"3", "2"} {
				must.Get(s.Undo(t.Context(), "ann", idrl.AnswerID("undo-"+n), idrl.AnswerID("answer-"+n)))(t)
			}
			if back, left := b.of(t, s, q); back != m || left != v {
				t.Errorf("after both are undone the difference is %v with variance %v, want %v with %v", back, left, m, v)
			}
		})
	}
}

// The tie band of a session is the half-width of 'equal' under both likelihoods
// that have one: the wider it is, the less 'equal' tells.
func TestTieBand(t *testing.T) {
	for _, name := range []string{"probit", "bradley-terry"} {
		var last float64
		for _, width := range []float64{0.1, 1, 3, 10} {
			b := modelled(t, func(s *idrl.SessionSpec) { s.Likelihood, s.NoiseStd, s.TieBand = name, 1, width })
			s, _ := b.start(t)
			if _, _, v := b.say(t, s, 1, idrl.Equal); !(v > last) {
				t.Errorf("%s: variance %v after 'equal' with a tie band of %v, want more than %v, with a narrower one", name, v, width, last)
			} else {
				last = v
			}
		}
	}
}
