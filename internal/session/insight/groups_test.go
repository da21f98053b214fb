package insight_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/session/insight"

	"gonum.org/v1/gonum/floats"
)

// grouped returns a study of groups of six clips, each of which is seen as good as its reward and
// noise of its own; with the probability lapse two are picked at random, and with the probability
// careless the worst one.
func grouped(seed uint64, n int, noiseStd, lapse, careless float64) *study {
	s := newStudy(3, seed)
	s.model.Group, s.model.OfGroups = belief.BestWorst{NoiseStd: 1, Lapse: belief.GroupLapse}, true
	for k := range n {
		q := &idrl.QueryVector{Query: idrl.Query{ID: idrl.QueryID(fmt.Sprint("q", k+1)), Kind: idrl.GroupClips}}
		seen := make([]float64, idrl.GroupSize)
		for i := range seen {
			phi := s.model.Start.Sample(nil, s.stream)
			q.Each, q.Clips = append(q.Each, phi), append(q.Clips, idrl.ClipID(fmt.Sprint(k, i)))
			seen[i] = floats.Dot(phi, s.truth) + noiseStd/math.Sqrt2*s.stream.NormFloat64()
		}
		best, worst := floats.MaxIdx(seen), floats.MinIdx(seen)
		if s.stream.Float64() < lapse {
			best, worst = two(s.stream)
		}
		if s.stream.Float64() < careless {
			for worst = best; worst == best; {
				worst = s.stream.IntN(idrl.GroupSize)
			}
		}
		s.queries[q.ID] = q
		s.log = append(s.log, idrl.Answer{
			ID: idrl.AnswerID(fmt.Sprint("a", k+1)), Seq: int64(k + 1), Query: q.ID, Annotator: "ann", Choice: idrl.BestWorst,
			Best: idrl.SideOf(best), Worst: idrl.SideOf(worst), ReceivedAt: begin,
		})
	}
	return s
}

func two(stream *rand.Rand) (a, b int) {
	a = stream.IntN(idrl.GroupSize)
	if b = stream.IntN(idrl.GroupSize - 1); b >= a {
		b++
	}
	return a, b
}

// Where people pick as the model says, the predictions of the best and of the worst are right.
// Where they pick the worst without looking, it is seen. Of random picks a posterior comes to
// expect little of any group, so that they are seen by the log loss: it is not below that of
// somebody who knows nothing.
func TestCalibrationOfGroups(t *testing.T) {
	const studies, each = 16, 25
	beyond, held, of, looked := 0, 0, 0, 0
	predicted, right := 0.0, 0.0
	for seed := range uint64(studies) {
		r := grouped(seed, each, 1, belief.GroupLapse, 0).report(t, &insight.Follower{})
		if len(r.Best) != each || len(r.Worst) != each || r.Fit.N+r.FitRatings.N != 0 {
			t.Fatalf("%d and %d forecasts of %d answers", len(r.Best), len(r.Worst), each)
		}
		for _, fit := range []insight.Calibration{r.FitBest, r.FitWorst} {
			for _, b := range fit.Bins {
				predicted, right = predicted+b.Predicted*float64(b.N), right+float64(b.Right)
				if b.N >= 5 {
					of++
					if b.From <= b.Predicted && b.Predicted <= b.To {
						held++
					}
				}
			}
			if fit.Beyond() {
				beyond++
			}
			if fit.Useless() {
				looked++ // to whom the clips are all alike
			}
		}
	}
	n := float64(2 * studies * each)
	t.Logf("the most probable clip was picked in %.3f, predicted %.3f; %d of %d bins hold the prediction; beyond chance %d, useless %d of %d", right/n, predicted/n, held, of, beyond, looked, 2*studies)
	if math.Abs(right-predicted)/n > 0.052 { // three standard errors
		t.Errorf("%.3f of the picks were the most probable, predicted %.3f", right/n, predicted/n)
	}
	if float64(held) < 0.86*float64(of) || beyond > 5 || looked > 3 { // 0.8 ± 0.9 beyond the upper end
		t.Errorf("%d of %d intervals hold the prediction, the error is beyond chance in %d, and the predictions useless in %d of %d", held, of, beyond, looked, 2*studies)
	}

	const wrong, long = 6, 80
	seen, useless := 0, 0
	for seed := range uint64(wrong) {
		careless := grouped(seed, long, 1, belief.GroupLapse, 1).report(t, &insight.Follower{})
		if careless.FitWorst.Beyond() {
			seen++
		}
		random := grouped(seed, each, 1, 1, 0).report(t, &insight.Follower{})
		if random.FitBest.Useless() || random.FitWorst.Useless() {
			useless++
		}
	}
	t.Logf("careless and random picks are seen in %d and %d of %d studies", seen, useless, wrong)
	if seen < wrong-1 || useless < wrong-1 {
		t.Errorf("careless and random picks are seen in %d and %d of %d studies", seen, useless, wrong)
	}
}

// The prediction of a group is how often each clip is the best, and the worst, of draws.
func TestPredictionOfAGroup(t *testing.T) {
	s := grouped(5, 8, 1, 0, 0)
	src := s.source(t)
	p, q := src.History.Posterior(), s.queries["q1"]
	said, ok := insight.Predict(s.model, p, q, "ann")
	if !ok || said.Reply != nil || said.Rating != nil {
		t.Fatalf("prediction %+v", said)
	}
	const draws = 60_000
	best, worst, seen := make([]float64, 6), make([]float64, 6), make([]float64, 6)
	for range draws {
		theta := p.Sample(nil, s.stream)
		for i, phi := range q.Each {
			seen[i] = floats.Dot(phi, theta) + s.stream.NormFloat64()/math.Sqrt2
		}
		best[floats.MaxIdx(seen)] += (1 - belief.GroupLapse) / draws
		worst[floats.MinIdx(seen)] += (1 - belief.GroupLapse) / draws
	}
	for i := range seen {
		if b, w := best[i]+belief.GroupLapse/6, worst[i]+belief.GroupLapse/6; math.Abs(said.Best[i]-b) > 0.012 || math.Abs(said.Worst[i]-w) > 0.012 {
			t.Errorf("clip %d: best %.3f, drawn %.3f; worst %.3f, drawn %.3f", i, said.Best[i], b, said.Worst[i], w)
		}
	}
}

// With a report on 25 groups, how long one more takes.
func BenchmarkPredictAGroup(b *testing.B) {
	s := grouped(5, 8, 1, 0, 0)
	p := s.source(b).History.Posterior()
	for b.Loop() {
		insight.Predict(s.model, p, s.queries["q1"], "ann")
	}
}
