package belief

import (
	"math"
	"math/rand/v2"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// After few and after many answers of an annotator, the information of a question is nearly that of all
// bases, though those of one noise count as one.
func TestInfoOfJoinedBases(t *testing.T) {
	m := Model{Start: Isotropic(1, 1), Comparison: Probit{NoiseStd: 1, TieBand: 0.3}}
	o, _ := m.Own(idrl.CompareClips)
	stream := rng.New(1, "joined", 0)
	for trial := range 40 {
		noise, band := math.Exp2(4*stream.Float64()-2), 0.6*stream.Float64()
		joined := o.blend(o.answerer(t, noise, band, []int{0, 3, 10, 30, 100}[trial%5], stream))
		all := joined
		all.joined = all.parts
		if n := len(joined.joined); n > len(ownNoises) {
			t.Fatalf("%d bases are left of %d noises", n, len(ownNoises))
		}
		for mean := -2.0; mean <= 2; mean += 0.25 {
			for _, v := range []float64{0.01, 0.1, 1, 4} {
				if got, want := joined.Info(mean, v), all.Info(mean, v); math.Abs(got-want) > 0.04*all.Info(0, v) {
					t.Errorf("noise %.2f, band %.2f, mean %v, variance %v: information %v, that of all bases is %v", noise, band, mean, v, got, want)
				}
			}
		}
	}
}

// answerer returns what is known of somebody with that noise and band after n answers.
func (o Own) answerer(t *testing.T, noise, band float64, n int, stream *rand.Rand) person {
	t.Helper()
	who := person{logs: rounded(append([]float64(nil), o.prior...))}
	logs, r, q := who.wide(make([]float64, len(who.logs))), o.newReading(), idrl.QueryVector{Query: idrl.Query{Kind: idrl.CompareClips}, X: []float64{1}}
	for range n {
		const v = 0.3
		m := stream.NormFloat64()
		u, a := m+math.Hypot(math.Sqrt(v), noise)*stream.NormFloat64(), idrl.Answer{Choice: idrl.Equal}
		switch {
		case u > band:
			a.Choice = idrl.ChoseA
		case u < -band:
			a.Choice = idrl.ChoseB
		}
		if seen := observations(nil, &q, &a)[0]; !o.read(r, seen, o.all, m, v, 0, 0) {
			t.Fatalf("answer %q at mean %v cannot be read", a.Choice, m)
		}
		o.learn(logs, r)
	}
	who.logs = rounded(logs)
	return who
}
