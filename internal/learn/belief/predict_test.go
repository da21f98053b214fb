package belief

import (
	"math"
	"testing"

	"tiebreak/internal/idrl"
)

func TestPredict(t *testing.T) {
	e := math.Exp
	for _, test := range []struct {
		name string
		got  [3]float64
		want [3]float64
	}{
		{"without ties", idrl.Predict(BradleyTerry{Beta: 2}, 0.5, 0), [3]float64{1 / (1 + e(-1)), 1 / (1 + e(1)), 0}},
		{"with ties", idrl.Predict(BradleyTerry{Beta: 1, TieWidth: 0.5}, 0, 0), [3]float64{1 / (1 + e(0.5)), 1 / (1 + e(0.5)), 1 - 2/(1+e(0.5))}},
		{"uncertain", idrl.Predict(Probit{NoiseStd: 1}, 1, 3), [3]float64{0.6914624612740131, 0.3085375387259869, 0}}, // Φ(½)
	} {
		for k := range test.want {
			if math.Abs(test.got[k]-test.want[k]) > 1e-9 {
				t.Errorf("%s: %v, want %v", test.name, test.got, test.want)
				break
			}
		}
	}
}
