package regret_test

import (
	"math"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/regret"

	"gonum.org/v1/gonum/floats"
)

// The parts that were asked about and not asked about add up to the variance, and answers about x
// alone leave the part that is orthogonal to Σ₀x.
func TestSplit(t *testing.T) {
	prior, stream := belief.Isotropic(4, 2), rng.New(1, "split", 0)
	p := prior
	for range 3 { // in a plane
		p = p.ConditionOnValue([]float64{stream.NormFloat64(), stream.NormFloat64(), 0, 0}, 1, 0.01)
	}
	asked, ok := regret.NewAsked(prior, p)
	if !ok {
		t.Fatal("no split")
	}
	delta, cov := []float64{1, -2, 3, 0.5}, make([]float64, 4)
	known, other, along := asked.Split(delta)
	p.CovMul(cov, delta)
	if v := floats.Dot(cov, delta); math.Abs(known+other-v) > 1e-9 || math.Abs(other-2*(9+0.25)) > 1e-9 {
		t.Errorf("variances %v and %v, want 18.5 and %v together", known, other, v)
	}
	if !floats.EqualApprox(along, []float64{0, 0, 3, 0.5}, 1e-9) {
		t.Errorf("not asked about: %v", along)
	}
}

// The leader is ahead by a mean of 1 along x, which was asked about; along y, which was not, a
// rival differs by so much.
func TestDecides(t *testing.T) {
	prior := belief.Isotropic(3, 1)
	p := prior.ConditionOnValue([]float64{1, 0, 0}, 1, 1e-4)
	asked, ok := regret.NewAsked(prior, p)
	if !ok {
		t.Fatal("no split")
	}
	for _, test := range []struct {
		name      string
		y, z      float64 // of the rival
		least     float64
		decides   bool
		attribute int
	}{
		{"nothing else", 0, 0, 0, false, 0},
		{"too little to turn it", 0.4, 0, 0, false, 0}, // two standard deviations are 0.8
		{"enough to turn it", 0.6, 0, 0, true, 1},
		{"of another feature", 0, -0.6, 0, true, 2},
		{"of both", 0.5, 0.5, 0, true, 1},
		{"more than counts", 5, 0, 4, true, 1},
		{"less than counts", 5, 0, 6, false, 0},
	} {
		known := policies([]float64{1, 0, 0}, []float64{0.9, 0, 0}, []float64{0, test.y, test.z})
		rival, feature, ok := asked.Decides(known, 0, 0.1, test.least)
		if ok != test.decides || ok && (rival != 2 || feature != test.attribute) {
			t.Errorf("%s: policy %d by feature %d, %t", test.name, rival, feature, ok)
		}
	}
	// Where the answers do not tell, either, it is not what was not asked about that is missing.
	vague, _ := regret.NewAsked(prior, prior.ConditionOnValue([]float64{1, 0, 0}, 0.2, 0.5))
	if _, _, ok := vague.Decides(policies([]float64{1, 0, 0}, []float64{0, 0.6, 0}), 0, 0.1, 0); ok {
		t.Error("it is said to be decided by what was not asked about")
	}
}

func TestLoss(t *testing.T) {
	p := belief.Isotropic(2, 1).ConditionOnValue([]float64{1, 0}, -2, 1e-9) // weights −2 and 0
	for _, test := range []struct {
		x    [3]float64
		best int
		loss float64
	}{
		{[3]float64{1, 2, 4}, 0, 0},
		{[3]float64{5, 4, 4}, 1, 1},
		{[3]float64{5, 2, 8}, 1, 0.5},
		{[3]float64{3, 3, 3}, 0, 0},
	} {
		best, loss := regret.Loss(p, policies([]float64{test.x[0], 0}, []float64{test.x[1], 1}, []float64{test.x[2], 0}), 0)
		if best != test.best || math.Abs(loss-test.loss) > 1e-6 {
			t.Errorf("%v: policy %d, a loss of %v; want %d and %v", test.x, best, loss, test.best, test.loss)
		}
	}
}
