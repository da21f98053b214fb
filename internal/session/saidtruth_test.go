package session_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/session/insight"
)

// foretold is rehearse without conditions, by the strategy that records probabilities; it returns the report
// on the answers, too. There are so many clips to compare, and one policy a clip of the first six.
func foretold(t *testing.T, seed uint64, clips, answers, ahead int) (rehearsed, *insight.Report) {
	t.Helper()
	b := newBench(func(s *idrl.SessionSpec) {
		s.Seed, s.Acquisition, s.TrainEvery, s.AdoptAfter, s.Ahead = seed, "lvar", 1e6, 0, ahead
	})
	b.method, b.trainer = method(t, "lvar"), wideTrainer{clips}
	r := rehearsed{bench: b, theta: b.truth(seed)}
	expert := must.Get(sim.NewMatched(b.journal.rec.Spec, r.theta))(t)
	s, stop := b.start(t)
	defer stop()
	r.answer(t, s, expert, answers)
	report := must.Get(s.Insight(t.Context()))(t)
	r.rec = b.record(t, s)
	return r, report
}

// best returns the known policy with the highest true return.
func (r rehearsed) best() idrl.PolicyID {
	return slices.MaxFunc(r.rec.Generation.Candidates, func(a, b idrl.Candidate) int {
		return cmp.Compare(floats.Dot(r.theta, a.Mu), floats.Dot(r.theta, b.Mu))
	}).ID
}

// A tally compares probabilities that were stated with how often what they are about was the case.
type tally [10]struct{ said, was, variance, n float64 }

func (t *tally) add(p float64, was bool) {
	b := &t[min(9, int(10*p))]
	b.said, b.variance, b.n = b.said+p, b.variance+p*(1-p), b.n+1
	if was {
		b.was++
	}
}

// check holds that each bin with 20 probabilities or more is right within three and a half binomial standard
// errors and slack, a difference of shares.
func (t *tally) check(test *testing.T, what string, slack float64) {
	test.Helper()
	bins := 0
	for k, b := range t {
		if b.n < 20 {
			continue
		}
		bins++
		said, was, tolerance := b.said/b.n, b.was/b.n, 3.5*math.Sqrt(b.variance)/b.n+slack
		test.Logf("%s: of %.0f said to be %.3f probable, %.3f were the case (tolerance %.3f)", what, b.n, said, was, tolerance)
		if !(math.Abs(said-was) <= tolerance) {
			test.Errorf("%s: bin %d: said %.3f, was %.3f, which differ by more than %.3f", what, k, said, was, tolerance)
		}
	}
	if bins < 3 {
		test.Errorf("%s: %d bins have enough probabilities to say something", what, bins)
	}
}

// The probability to be the best that is recorded with a question is right: of the policies of which it is
// said to be 30 % that they are the best of those known, 30 % are. Each session gives one question, so
// that sessions are independent. With one question at a time the posterior has all answers before.
// With three, the two that are held count as answered, so that it is too narrow by two answers.
func TestRecordedChancesAreTrue(t *testing.T) {
	for _, test := range []struct {
		name  string
		ahead int
		slack float64
	}{{"one question at a time", 1, 0.01}, {"three questions held", 3, 0.03}} {
		var all tally
		for seed := range uint64(700) {
			r, _ := foretold(t, 1000+seed, 12, 1+int(seed%12), test.ahead)
			as := r.rec.Assignments[min(int(seed%12), len(r.rec.Assignments)-1)]
			best := r.best()
			for i, id := range aboutOf(as.Why) {
				if p, known := as.Why.Best[i].P(); known {
					all.add(p, id == best)
				}
			}
		}
		all.check(t, test.name, test.slack)
	}
}

// aboutOf returns the policies that Why.Best is about, in its order; empty where there is none.
func aboutOf(w record.Why) []idrl.PolicyID {
	out := []idrl.PolicyID{w.First}
	for _, s := range w.Shares {
		out = append(out, s.Policy)
	}
	return out
}

// What is predicted of answers is right, of those that are predicted again for a report and of those
// after the first insight.Followed, whose predictions were recorded when they came.
func TestPredictionsOfAnswersAreTrue(t *testing.T) {
	var early, late tally
	add := func(to *tally, all []insight.Forecast) {
		for _, f := range all {
			for k, p := range f.P {
				to.add(p, k == f.Actual)
			}
		}
	}
	for seed := range uint64(120) {
		_, report := foretold(t, 2000+seed, 12, 25, 1)
		add(&early, report.Forecasts)
	}
	early.check(t, "of the first answers", 0.005)
	const more = 1000
	r, report := foretold(t, 3000, 75, insight.Followed+more, 1)
	recorded := 0
	for _, s := range r.journal.rec.Snapshots {
		if len(s.Foretold) > 0 {
			recorded++
		}
	}
	if n := len(report.Forecasts); n != insight.Followed+more || recorded != more || report.Left != 0 {
		t.Fatalf("%d predictions, %d of them recorded, %d answers without", n, recorded, report.Left)
	}
	add(&late, report.Forecasts[insight.Followed:])
	late.check(t, "of later answers", 0.01)
}
