package insight_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/session/insight"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// ratingStd is the standard deviation of the noise of a rating that the model takes people to have.
const ratingStd = 0.2236

// A rater gives a rating of a clip whose reward is u.
type rater func(u float64, stream *rand.Rand) float64

func noisy(std float64) rater {
	return func(u float64, stream *rand.Rand) float64 { return max(-1, min(1, u+std*stream.NormFloat64())) }
}

// onButtons rounds to the eleven buttons of the page.
func onButtons(of rater) rater {
	return func(u float64, stream *rand.Rand) float64 { return math.Round(5*of(u, stream)) / 5 }
}

func atRandom(_ float64, stream *rand.Rand) float64 { return math.Round(10*stream.Float64()-5) / 5 }

// rated returns a study of ratings of clips with three features, by people who take turns.
func rated(seed uint64, n int, people map[idrl.AnnotatorID]rater, order ...idrl.AnnotatorID) *study {
	s := newStudy(3, seed)
	s.model.Start, s.model.Rating = belief.Isotropic(3, 0.15), belief.RatingClipped{NoiseVar: ratingStd * ratingStd}
	s.truth = s.model.Start.Sample(nil, s.stream)
	for k := range n {
		who := order[k%len(order)]
		q := &idrl.QueryVector{Query: idrl.Query{ID: idrl.QueryID(fmt.Sprint("q", k+1)), Kind: idrl.RateClip}, X: belief.Isotropic(3, 1).Sample(nil, s.stream)}
		s.queries[q.ID] = q
		s.log = append(s.log, idrl.Answer{
			ID: idrl.AnswerID(fmt.Sprint("a", k+1)), Seq: int64(k + 1), Query: q.ID, Annotator: who, Choice: idrl.Rated,
			Rating: people[who](floats.Dot(q.X, s.truth), s.stream), ReceivedAt: begin.Add(time.Duration(k) * time.Minute),
		})
	}
	return s
}

// Where people rate as the model says, the transforms are uniform, and the predicted intervals
// hold as many ratings as they say: also on buttons, and at the ends of the scale. Where they
// have three times the noise, or click at random, it is seen.
func TestCalibrationOfRatings(t *testing.T) {
	const studies, each = 40, 80
	for _, test := range []struct {
		name  string
		of    rater
		right bool
	}{
		{"as modelled", noisy(ratingStd), true},
		{"on buttons", onButtons(noisy(ratingStd)), true},
		{"three times the noise", noisy(3 * ratingStd), false},
		{"at random", atRandom, false},
	} {
		var half, most, error, outside, beyond, held, ends int
		for seed := range uint64(studies) {
			s := rated(seed, each, map[idrl.AnnotatorID]rater{"ann": test.of}, "ann")
			r := s.report(t, &insight.Follower{})
			fit := r.FitRatings
			if fit.N != each || len(r.Ratings) != each || r.Fit.N+r.FitBest.N != 0 {
				t.Fatalf("%d and %d forecasts of %d ratings, %d of others", fit.N, len(r.Ratings), each, r.Fit.N+r.FitBest.N)
			}
			half, most = half+fit.Half.In, most+fit.Most.In
			for _, k := range fit.Bins {
				if k < fit.Band[0] || k > fit.Band[1] {
					outside++
				}
			}
			if fit.Beyond() {
				beyond++
			}
			if fit.ErrorRange[0] <= 0 && 0 <= fit.ErrorRange[1] {
				error++
			}
			for _, one := range r.Ratings {
				if one.Rating == 1 || one.Rating == -1 {
					ends++
				}
				if one.Low <= one.Rating && one.Rating <= one.High {
					held++
				}
			}
		}
		const all = studies * each
		t.Logf("%s: 50 %%: %.3f, 90 %%: %.3f, outside the band %d of %d bins, beyond chance %d of %d, mean error within its interval %d, at the ends %d",
			test.name, float64(half)/all, float64(most)/all, outside, 10*studies, beyond, studies, error, ends)
		if !test.right {
			if beyond < studies*95/100 || float64(most)/all > 0.8 {
				t.Errorf("%s: beyond chance in %d of %d studies, intervals of 90 %% hold %d of %d", test.name, beyond, studies, most, all)
			}
			continue
		}
		tol := func(p float64) float64 { return 3 * math.Sqrt(p*(1-p)/all) }
		if p := float64(half) / all; math.Abs(p-0.5) > tol(0.5) {
			t.Errorf("%s: intervals of 50 %% hold %.3f", test.name, p)
		}
		if p := float64(most) / all; math.Abs(p-0.9) > tol(0.9) {
			t.Errorf("%s: intervals of 90 %% hold %.3f", test.name, p)
		}
		if float64(held) < (0.9-tol(0.9))*all {
			t.Errorf("%s: %d of %d ratings lie in their ranges", test.name, held, all)
		}
		if beyond > 6 || outside > 10*studies*8/100 || error < 34 || ends < 20 { // 2 ± 1.4, at most 20 ± 4.4, 38 ± 1.4
			t.Errorf("%s: beyond chance in %d studies, %d bins outside the band, the mean error within its interval in %d, %d ratings at the ends", test.name, beyond, outside, error, ends)
		}
	}
}

// A posterior that learns how each person rates predicts somebody who rates high and somebody
// with little noise as well.
func TestCalibrationOfRatingsOfEachPerson(t *testing.T) {
	high := func(u float64, stream *rand.Rand) float64 {
		return max(-1, min(1, u+0.15+ratingStd*stream.NormFloat64()))
	}
	var half, most, n int
	for seed := range uint64(10) {
		s := rated(seed, 90, map[idrl.AnnotatorID]rater{"ann": noisy(ratingStd), "bob": noisy(ratingStd / 2), "eve": high}, "ann", "bob", "eve")
		own, ok := s.model.Own(idrl.RateClip)
		if !ok {
			t.Fatal("there is no model of annotators")
		}
		src := s.source(t)
		h := must.Get(posterior.New(posterior.Config{Model: own}).Replace(t.Context(), 0, src.History.After(0)))(t)
		src.Model, src.History = own, h
		r := must.Get((&insight.Follower{}).Report(t.Context(), src))(t)
		half, most, n = half+r.FitRatings.Half.In, most+r.FitRatings.Most.In, n+r.FitRatings.N
	}
	t.Logf("50 %%: %.3f, 90 %%: %.3f of %d", float64(half)/float64(n), float64(most)/float64(n), n)
	if p := float64(half) / float64(n); math.Abs(p-0.5) > 0.08 {
		t.Errorf("intervals of 50 %% hold %.3f", p)
	}
	if p := float64(most) / float64(n); math.Abs(p-0.9) > 0.05 {
		t.Errorf("intervals of 90 %% hold %.3f", p)
	}
}

// Numbers by hand.
func TestCalibrateRatings(t *testing.T) {
	var all []insight.RatingForecast
	for k := range 20 {
		all = append(all, insight.RatingForecast{Seq: int64(k + 1), Rating: 0.5, RatingRange: insight.RatingRange{Mean: 0.25}, PIT: 0.05 * float64(k)})
	}
	c := insight.CalibrateRatings(all)
	if c.Bins != [10]int{2, 2, 2, 2, 2, 2, 2, 2, 2, 2} || c.Uneven != 0 || c.Beyond() {
		t.Errorf("even transforms: %+v", c)
	}
	if c.Error != 0.25 || c.ErrorRange != [2]float64{0.25, 0.25} || c.Spread != 0.25 || c.Half.In != 11 || c.Most.In != 18 {
		t.Errorf("errors and coverage: %+v", c)
	}
	if c.Band != [2]int{0, 5} { // P(K ≤ 5) = 0.989, P(K ≤ 4) = 0.957, P(K = 0) = 0.12
		t.Errorf("band %v", c.Band)
	}
	for k := range all {
		all[k].PIT = 0.95
	}
	if c := insight.CalibrateRatings(all); c.Uneven != 180 || !c.Beyond() || math.Abs(c.Limit-16.919) > 1e-3 { // 9·2 + 18²/2
		t.Errorf("all in one bin: %+v", c)
	}
	if c := insight.CalibrateRatings(nil); c.N != 0 || c.Beyond() {
		t.Errorf("of none: %+v", c)
	}
	b := distuv.Binomial{N: 200, P: 0.1}
	many := insight.CalibrateRatings(make([]insight.RatingForecast, 200)).Band
	if inside := b.CDF(float64(many[1])) - b.CDF(float64(many[0])-1); inside < 0.95 || inside > 0.98 {
		t.Errorf("the band %v of 200 holds %.3f", many, inside)
	}
}

// What is said of a rating is the predicted distribution: its quantiles and its mean are those
// of draws from it.
func TestRangeOfRatings(t *testing.T) {
	stream := rng.New(1, "ranges", 0)
	for _, mean := range []float64{-1.4, -0.3, 0.2, 0.95} {
		m := belief.Model{Start: belief.Isotropic(1, 0.3), Rating: belief.RatingClipped{NoiseVar: 0.05}}
		q := &idrl.QueryVector{Query: idrl.Query{Kind: idrl.RateClip}, X: []float64{1}}
		p := m.Start.Condition(q.X, mean/0.3, 0) // the mean is moved, the variance stays
		said, ok := insight.Predict(m, p, q, "ann")
		if !ok {
			t.Fatal("nothing is predicted")
		}
		const draws = 40_000
		sum, low, high := 0.0, 0, 0
		for range draws {
			y := max(-1, min(1, mean+math.Sqrt(0.35)*stream.NormFloat64()))
			sum += y / draws
			if y < said.Rating.Low {
				low++
			}
			if y > said.Rating.High {
				high++
			}
		}
		if math.Abs(sum-said.Rating.Mean) > 0.01 {
			t.Errorf("mean %v: predicted %v, drawn %v", mean, said.Rating.Mean, sum)
		}
		if low > draws*6/100 || said.Rating.Low > -1 && low < draws*4/100 || high > draws*6/100 || said.Rating.High < 1 && high < draws*4/100 {
			t.Errorf("mean %v: range %+v, %d draws below, %d above of %d", mean, said.Rating, low, high, draws)
		}
	}
}

// Undone ratings are as if they had never been given, to the last bit.
func TestRatingsAreOfWhatCounts(t *testing.T) {
	s := rated(3, 40, map[idrl.AnnotatorID]rater{"ann": noisy(0.5)}, "ann")
	f := &insight.Follower{}
	s.report(t, f)
	undone := s.log[10]
	s.say(idrl.Answer{Annotator: "ann", Undoes: undone.ID})
	got := s.report(t, f)
	never := *s
	never.log = append(append([]idrl.Answer{}, s.log[:10]...), s.log[11:40]...)
	want := never.report(t, &insight.Follower{})
	if diff := cmp.Diff(want.FitRatings, got.FitRatings); diff != "" || got.FitRatings.N != 39 {
		t.Errorf("the report differs from that without it (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Ratings, got.Ratings, withoutSeq); diff != "" {
		t.Errorf("the forecasts differ:\n%s", diff)
	}
}

// The prediction of one rating, by a posterior that learns how each person rates.
func BenchmarkPredictARating(b *testing.B) {
	s := rated(3, 30, map[idrl.AnnotatorID]rater{"ann": noisy(ratingStd), "bob": noisy(0.4)}, "ann", "bob")
	own, _ := s.model.Own(idrl.RateClip)
	h := must.Get(posterior.New(posterior.Config{Model: own}).Replace(b.Context(), 0, s.source(b).History.After(0)))(b)
	for b.Loop() {
		insight.Predict(own, h.Posterior(), s.queries["q1"], "ann")
	}
}
