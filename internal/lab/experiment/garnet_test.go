package experiment

import (
	"math"
	"testing"

	"tiebreak/envs/envtest"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

func TestGarnetContract(t *testing.T) {
	envtest.Run(t, func() idrl.Environment { return newGarnet(rng.New(1, "layout", 0)) })
}

// Every action leads to five different states, with probabilities that are
// spacings of a uniform sample: of mean 1/5, each, and variance 4/(25·6).
func TestGarnetBranches(t *testing.T) {
	var all []float64
	for seed := range uint64(5) {
		g := newGarnet(rng.New(seed, "layout", 0))
		for s := range g.NumStates() {
			for a := range garnetActions {
				n := 0
				for _, p := range g.Transition(nil, s, a) {
					if p > 0 {
						n++
						all = append(all, p)
					}
				}
				if n != garnetBranches {
					t.Fatalf("action %d leads from state %d to %d states, want %d", a, s, n, garnetBranches)
				}
			}
		}
	}
	if mean := stat.Mean(all, nil); math.Abs(mean-0.2) > 1e-12 { // they sum to 1
		t.Errorf("mean probability %v, want 1/5", mean)
	}
	// Of 5000 spacings; the fourth moment of one is 24/(5·6·7·8), so that the standard
	// error of the variance is below √(0.0143/5000) = 0.0017.
	if got, want := stat.Variance(all, nil), 4.0/150; math.Abs(got-want) > 4*0.0017 {
		t.Errorf("variance of the probabilities %v, want %v", got, want)
	}
}

// Features are normals of variance 1/10, so that the rewards of a state are of
// variance 1 under the prior.
func TestGarnetFeatures(t *testing.T) {
	var all []float64
	for seed := range uint64(10) {
		phi := mat.NewDense(garnetStates, garnetFeatures, nil)
		newGarnet(rng.New(seed, "layout", 0)).Features(phi)
		all = append(all, phi.RawMatrix().Data...)
	}
	n := float64(len(all))
	if mean := stat.Mean(all, nil); math.Abs(mean) > 4*math.Sqrt(0.1/n) {
		t.Errorf("mean of the features %v, want 0", mean)
	}
	if got := floats.Dot(all, all) / n; math.Abs(got-0.1) > 4*0.1*math.Sqrt(2/n) {
		t.Errorf("variance of the features %v, want 1/10", got)
	}
}
