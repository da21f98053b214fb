package session_test

import (
	"math"
	"testing"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// truth returns the probability with which a decisive answer of the expert to a pair that
// nobody was asked is the one that p predicts, and the expected log loss of any answer. The
// expert prefers a with probability Φ((u−τ)/s), b with Φ((−u−τ)/s).
func (r rehearsed) truth(p idrl.Posterior) (accuracy, loss float64) {
	asked := map[idrl.QueryID]bool{}
	for _, as := range r.rec.Assignments {
		asked[as.Query.ID] = true
	}
	phi := func(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }
	mean, work := p.Mean(nil), make([]float64, dim)
	var right, decisive, sum, n float64
	for _, q := range r.rec.Generation.Queries {
		if asked[q.ID] {
			continue
		}
		x := idrl.ComparisonVector(r.rec.Generation.Clips[q.Clips[0]], r.rec.Generation.Clips[q.Clips[1]]).X
		u, s, tie := floats.Dot(r.theta, x), r.rec.Spec.NoiseStd, r.rec.Spec.TieBand
		a, b := phi((u-tie)/s), phi((-u-tie)/s)
		m, v := idrl.Moments(p, x, mean, work)
		spread := math.Sqrt(s*s + v) // of u and the noise, as p believes
		pa, pb := phi((m-tie)/spread), phi((-m-tie)/spread)
		if decisive += a + b; m > 0 {
			right += a
		} else {
			right += b
		}
		sum -= a*math.Log(pa) + b*math.Log(pb) + (1-a-b)*math.Log(1-pa-pb)
		n++
	}
	return right / decisive, sum / n
}

// What a session says of its conditions is true: the interval of the accuracy holds the
// probability with which the expert's answers to fresh comparisons are predicted, in 95 % of
// conditions, and neither accuracy nor log loss is off on average.
func TestConditionScoresAreTrue(t *testing.T) {
	const runs, answers = 40, 110
	held, all := 0, 0
	var errs, losses []float64
	for seed := range uint64(runs) {
		r := rehearse(t, 100+seed, answers, nil)
		for _, c := range append(r.scores.Conditions, r.scores.All) {
			got, ok := c.Last()
			if !ok {
				t.Fatalf("run %d: no score of condition %q", seed, c.Name)
			}
			p := r.posteriorOf(t, c.Name, got.Answers)
			accuracy, loss := r.truth(p)
			if all++; got.Low <= accuracy && accuracy <= got.High {
				held++
			}
			errs, losses = append(errs, got.Accuracy()-accuracy), append(losses, got.LogLoss-loss)
		}
	}
	if share := float64(held) / float64(all); share < 0.9 || share > 0.995 {
		t.Errorf("%d of %d intervals hold the truth, which is %.1f %%, want about 95 %%", held, all, 100*share)
	}
	for name, list := range map[string][]float64{"accuracy": errs, "log loss": losses} {
		mean, sd := stat.MeanStdDev(list, nil)
		if se := sd / math.Sqrt(runs); math.Abs(mean) > 3*se { // the conditions of a run share their answers
			t.Errorf("the %s is off by %.4f ± %.4f on average", name, mean, se)
		}
		t.Logf("%s: off by %.4f ± %.4f", name, mean, sd/math.Sqrt(runs))
	}
	t.Logf("%d of %d intervals hold the truth", held, all)
}
