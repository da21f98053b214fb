package belief

import (
	"fmt"
	"math"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"
)

// A distribution of ratings is the integral of its density, with the ends of the scale as steps.
func TestDistributionOfRatings(t *testing.T) {
	own := ownOf(t, Model{Start: Isotropic(1, 1), Rating: RatingClipped{NoiseVar: 0.1}}, idrl.RateClip)
	open := ownOf(t, Model{Start: Isotropic(1, 1), Rating: Rating{NoiseVar: 0.1}}, idrl.RateClip)
	stream := rng.New(1, "distribution", 0)
	qs, as := answersOf(idrl.RateClip, []answerer{{id: "ann", noise: 1, std: math.Sqrt(0.1), scale: 1}, {id: "bob", noise: 0.5, lapse: 0.1, std: math.Sqrt(0.1), offset: 0.2, scale: 1}}, []float64{0.4}, 30, stream)
	known := fitOwn(t, own, qs, as)
	for name, l := range map[string]posterior.RatingLikelihood{
		"gaussian": Rating{NoiseVar: 0.05}, "clipped": RatingClipped{NoiseVar: 0.05},
		"of nobody known": own.Likelihood(idrl.Query{Kind: idrl.RateClip}).(posterior.RatingLikelihood),
		"of somebody":     own.Asking(known, "bob").Likelihood(idrl.Query{Kind: idrl.RateClip}).(posterior.RatingLikelihood),
	} {
		for _, m := range []float64{-0.9, 0.1, 1.3} {
			const v = 0.2
			p := func(y float64) float64 {
				logZ, _, _ := l.LogZ(idrl.Answer{Choice: idrl.Rated, Rating: y}, m, v)
				return math.Exp(logZ)
			}
			low, high, ends := -6.0, 8.0, name != "gaussian"
			sum, mean := 0.0, 0.0
			if ends {
				low, high = -1, 1
				sum, mean = p(-1), -p(-1)
				if below, upTo, _ := l.Distribution(-1, m, v); below != 0 || math.Abs(upTo-sum) > 1e-6 {
					t.Errorf("%s at %v: %v and %v at the lower end, want 0 and %v", name, m, below, upTo, sum)
				}
			}
			const parts = 4000
			width := (high - low) / parts
			for k := range parts {
				y := low + (float64(k)+0.5)*width
				sum += p(y) * width
				mean += y * p(y) * width
				if k%400 != 399 || k == parts-1 {
					continue
				}
				below, upTo, _ := l.Distribution(y+width/2, m, v)
				within(t, fmt.Sprintf("%s at %v: P(Y ≤ %v)", name, m, y+width/2), upTo, sum, 2e-5)
				if below != upTo {
					t.Errorf("%s at %v: a step at %v", name, m, y)
				}
			}
			if ends {
				below, upTo, _ := l.Distribution(1, m, v)
				within(t, fmt.Sprintf("%s at %v: P(Y < 1)", name, m), below, sum, 2e-5)
				within(t, "P(Y ≤ 1)", upTo, 1, 1e-12)
				mean += p(1)
			}
			_, _, got := l.Distribution(0, m, v)
			within(t, fmt.Sprintf("%s at %v: mean", name, m), got, mean, 1e-4)
		}
	}
	if _, ok := open.Likelihood(idrl.Query{Kind: idrl.RateClip}).(posterior.RatingLikelihood); !ok {
		t.Error("ratings without ends have no distribution")
	}
}
