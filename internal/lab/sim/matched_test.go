package sim_test

import (
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/study/settings"
)

// A matched expert answers with the probabilities of the session's own likelihood, as
// package belief computes them. Of n answers the share of one with probability p has
// the standard deviation √(p(1−p)/n) ≤ 0.0035: five of these are 0.018.
func TestMatchedAnswersByTheLikelihood(t *testing.T) {
	const n = 20_000
	for _, name := range []string{"probit", "bradley-terry", "bernoulli"} {
		spec := settings.Complete(idrl.SessionSpec{Likelihood: name, NoiseStd: 0.7, TieBand: 0.3})
		model := must.Get(belief.ForSpec(spec, twoFeatures{}))(t)
		expert := must.Get(sim.NewMatched(spec, []float64{2, -1}))(t)
		for _, u := range []float64{-1.2, -0.4, 0, 0.1, 0.8} {
			q := idrl.QueryVector{Query: idrl.Query{Kind: idrl.CompareClips}, X: []float64{u, u}} // θ·X = u
			stream, count := rng.New(1, name, uint64(10*(u+2))), map[idrl.Choice]float64{}
			for range n {
				count[expert.Answer(q, stream).Choice]++
			}
			want := map[idrl.Choice]float64{}
			for _, c := range []idrl.Choice{idrl.ChoseA, idrl.ChoseB} {
				logZ, _, _ := model.Likelihood(q.Query).LogZ(idrl.Answer{Choice: c}, u, 0)
				want[c] = math.Exp(logZ)
			}
			want[idrl.Equal] = 1 - want[idrl.ChoseA] - want[idrl.ChoseB]
			for c, p := range want {
				if got := count[c] / n; !(math.Abs(got-p) < 0.018) {
					t.Errorf("%s, u = %v: %s with frequency %.4f, want %.4f", name, u, c, got, p)
				}
			}
		}
	}
}

// Ratings are normal around u and end at the ends of the scale: P(1|u) = Φ((u − 1)/s).
func TestMatchedRatings(t *testing.T) {
	const n, u, std = 20_000, 0.9, 0.2
	spec := settings.Complete(idrl.SessionSpec{Kind: idrl.RateClip, RatingVar: std * std})
	expert := must.Get(sim.NewMatched(spec, []float64{1, 1}))(t)
	q := idrl.QueryVector{Query: idrl.Query{Kind: idrl.RateClip}, X: []float64{0.6, 0.3}}
	stream, ends, below := rng.New(1, "ratings", 0), 0.0, 0.0
	for range n {
		switch a := expert.Answer(q, stream); {
		case a.Choice != idrl.Rated || !(a.Rating >= -1 && a.Rating <= 1):
			t.Fatalf("answer %+v", a)
		case a.Rating == 1:
			ends++
		case a.Rating < u:
			below++
		}
	}
	if want := 0.5 * math.Erfc((1-u)/std/math.Sqrt2); !(math.Abs(ends/n-want) < 0.018) {
		t.Errorf("the end of the scale with frequency %.4f, want %.4f", ends/n, want)
	}
	if !(math.Abs(below/n-0.5) < 0.018) {
		t.Errorf("below u with frequency %.4f, want 0.5", below/n)
	}
}

func TestMatchedRefusesUnknownLikelihoods(t *testing.T) {
	if _, err := sim.NewMatched(idrl.SessionSpec{Likelihood: "logit"}, nil); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("error = %v", err)
	}
}

// twoFeatures is an environment of which nothing but its number of features is known.
type twoFeatures struct{ idrl.Environment }

func (twoFeatures) Spec() idrl.EnvSpec { return idrl.EnvSpec{FeatureNames: []string{"x", "y"}} }

// What is said beside a choice has the probabilities of the likelihood too, and choices are
// those without it.
func TestMatchedSaysMore(t *testing.T) {
	const n, u, z = 20_000, 0.9, 0.4
	for _, name := range []string{"probit", "bradley-terry"} {
		spec := settings.Complete(idrl.SessionSpec{Likelihood: name, NoiseStd: 0.7, TieBand: 0.3, Strength: true, Remarks: true})
		model := must.Get(belief.ForSpec(spec, twoFeatures{}))(t)
		expert := must.Get(sim.NewMatched(spec, []float64{2, -1}))(t)
		q := idrl.QueryVector{Query: idrl.Query{Kind: idrl.CompareClips}, X: []float64{u, u}, Mid: []float64{z, z}}
		stream, count, remarks := rng.New(1, name, 0), map[idrl.Answer]float64{}, map[idrl.Remark]float64{}
		for range n {
			a := expert.Answer(q, stream)
			remarks[a.Remark]++
			a.Remark = ""
			count[a]++
		}
		for _, a := range idrl.Replies(model.Comparison) {
			logZ, _, _ := model.Comparison.LogZ(a, u, 0)
			if got, want := count[a]/n, math.Exp(logZ); !(math.Abs(got-want) < 0.018) {
				t.Errorf("%s: %+v with frequency %.4f, want %.4f", name, a, got, want)
			}
		}
		logZ, _, _ := model.Remark.LogZ(idrl.Answer{Choice: idrl.ChoseA}, z, 0)
		if got, want := remarks[idrl.BothGood]/n, math.Exp(logZ)/2; !(math.Abs(got-want) < 0.018) || math.Abs(remarks[""]/n-0.5) > 0.018 {
			t.Errorf("%s: both good with frequency %.4f, want %.4f; nothing with %.4f", name, got, want, remarks[""]/n)
		}
	}
}
