package rehearsal

import (
	"math"
	"strings"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
)

// Returns of the known policies are 1, 3 (recommended), 4 and −1 under θ = (1, 2), and
// the best there is has 7: the true span is 8 and the regret a half of it.
func TestComparison(t *testing.T) {
	known := []idrl.Candidate{{ID: "a", Mu: []float64{1, 0}}, {ID: "b", Mu: []float64{1, 1}}, {ID: "c", Mu: []float64{0, 2}}, {ID: "d", Mu: []float64{-1, 0}}}
	review := session.Review{
		Seq: 9, BasedOn: 6, Best: known[1], Known: known, Mean: []float64{2, 1},
		Regret: idrl.Regret{Definition: idrl.RegretDefinition, Tolerance: 0.05, Within: 0.25, Bound: 0.5, Mean: 0.125, Span: 3},
	}
	for _, test := range []struct {
		name string
		t    truth
		want Comparison
		says []string
	}{
		{
			"against the optimum",
			truth{theta: []float64{1, 2}, best: []float64{7, 0}, against: AgainstOptimum},
			Comparison{Best: 7, Span: 8, Regret: 0.5, RegretKnown: 0.125, Against: AgainstOptimum},
			[]string{"recommends b, one of 4", "after answer 6", "return: 3; 7 of the best policy there is; 8 from", "50 % of the span; 12.5 % against", "at most 5 % with a probability of 25 %; at most 50 %", "0.800"},
		},
		{
			"a search that finds less than is known",
			truth{theta: []float64{1, 2}, best: []float64{2, 0}, against: AgainstSearch},
			Comparison{Best: 4, Span: 5, Regret: 0.2, RegretKnown: 0.2, Against: AgainstSearch},
			[]string{"4 of the best policy found in 100 searches"},
		},
		{
			"without a solver",
			truth{theta: []float64{1, 2}, against: AgainstKnown},
			Comparison{Best: 4, Span: 5, Regret: 0.2, RegretKnown: 0.2, Against: AgainstKnown},
			[]string{"4 of the best policy that the session knows"},
		},
		{
			"all are equally good",
			truth{theta: []float64{0, 0}, against: AgainstKnown},
			Comparison{Against: AgainstKnown},
			[]string{"True regret: 0 % of the span"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, want := test.t.tell(review), test.want
			want.Seq, want.BasedOn, want.Policies, want.Recommended, want.Shown = 9, 6, 4, "b", review.Regret
			if want.Span > 0 {
				want.Return, want.BestKnown, want.Cosine = 3, 4, got.Cosine
				if !(math.Abs(got.Cosine-0.8) < 1e-15) { // (2·1 + 1·2)/(√5·√5)
					t.Errorf("cosine %v, want 0.8", got.Cosine)
				}
			}
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if says := got.String(); strings.HasSuffix(says, "\n") || !containsAll(says, test.says) {
				t.Errorf("it says\n%s", says)
			}
		})
	}
	if says := (Comparison{BasedOn: -1}).String(); says != "There are no candidates yet to compare." {
		t.Errorf("before the first generation it says %q", says)
	}
}

func containsAll(s string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

// Equally good policies whose returns differ by rounding have no regret.
func TestRoundingIsNoRegret(t *testing.T) {
	for _, test := range []struct{ loss, span, want float64 }{{1, 4, 0.25}, {4e-10, 4, 0}, {0, 0, 0}, {-1e-15, 1, 0}, {2e-9, 1, 2e-9}} {
		if got := share(test.loss, test.span); got != test.want {
			t.Errorf("loss %v of span %v: share %v, want %v", test.loss, test.span, got, test.want)
		}
	}
}

func TestCoveredAndSmall(t *testing.T) {
	for _, test := range []struct {
		regret, bound  float64
		covered, small bool
	}{{0, 0, true, true}, {0.05, 0.04, false, true}, {0.06, 0.06, true, false}, {math.NaN(), 1, false, false}} {
		c := Comparison{Regret: test.regret, Shown: idrl.Regret{Tolerance: 0.05, Bound: test.bound}}
		if c.Covered() != test.covered || c.Small() != test.small {
			t.Errorf("regret %v, bound %v: covered %t, small %t", test.regret, test.bound, c.Covered(), c.Small())
		}
	}
}
