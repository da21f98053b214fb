package session

import (
	"math"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/learn/representation"

	"gonum.org/v1/gonum/floats"
)

// comparisons returns 40 answers about three weights, by true weights or at random.
func comparisons(seed uint64, atRandom bool) (out []posterior.Item) {
	r := rng.New(seed, "evidence", 0)
	theta := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
	for n := range int64(40) {
		x := []float64{3 * r.NormFloat64(), 3 * r.NormFloat64(), 3 * r.NormFloat64()}
		u := floats.Dot(theta, x) + r.NormFloat64()
		if atRandom {
			u = r.NormFloat64()
		}
		i := posterior.Item{Seq: n + 1, Query: &idrl.QueryVector{Query: idrl.Query{Kind: idrl.CompareClips}, X: x}, Annotator: "ann", Choice: idrl.ChoseA}
		if u < 0 {
			i.Choice = idrl.ChoseB
		}
		out = append(out, i)
	}
	return out
}

// People who guess reach the evidence that a sure statement needs in at most one session of a hundred,
// whenever one looks; people as they are assumed to be have it soon. The evidence is a function of the list.
func TestGuessesAreNoEvidence(t *testing.T) {
	m := belief.Model{Start: belief.Isotropic(3, 1), Comparison: belief.Probit{NoiseStd: 1, TieBand: 0.25}}
	f := features{model: m, view: representation.New(nil, representation.Source{})}
	const lists = 200
	for _, atRandom := range []bool{true, false} {
		reached := 0
		for seed := range uint64(lists) {
			var e evidence
			items, most := comparisons(seed, atRandom), math.Inf(-1)
			for n := range items {
				if !e.follow(t.Context(), f, items[:n+1]) {
					t.Fatal("no posterior")
				}
				most = max(most, e.nats)
			}
			if most >= -math.Log(guessing*0.1) { // the doubt of sessions by default
				reached++
			}
			var whole evidence
			if whole.follow(t.Context(), f, items); whole.nats != e.nats || !whole.told {
				t.Fatalf("by one answer after the other %v, at once %v", e.nats, whole.nats)
			}
			e.follow(t.Context(), f, items[:20]) // a withdrawal
			var half evidence
			if half.follow(t.Context(), f, items[:20]); half.nats != e.nats {
				t.Fatalf("after a withdrawal %v, without the answers %v", e.nats, half.nats)
			}
		}
		t.Logf("at random %v: %d of %d", atRandom, reached, lists)
		if atRandom && reached > 6 || !atRandom && reached < 190 { // 1 % of 200, and 2.8 standard deviations
			t.Errorf("at random %v: %d of %d reach the evidence", atRandom, reached, lists)
		}
	}
}

// A statement at the line of the rule is sure, although 1 − 0.18 is above 0.82 as a floating-point number.
func TestSureAtTheLine(t *testing.T) {
	s := &settings{spec: idrl.SessionSpec{Doubt: 0.18}}
	if !s.sure(0.82) || s.sure(0.81) {
		t.Errorf("with a doubt of 0.18: 0.82 is sure: %t, 0.81: %t", s.sure(0.82), s.sure(0.81))
	}
}
