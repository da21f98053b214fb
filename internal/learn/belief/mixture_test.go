package belief

import (
	"math"
	"testing"

	"tiebreak/internal/base/rng"

	"gonum.org/v1/gonum/floats"
)

// mixed returns a mixture of n Gaussians in three dimensions.
func mixed(t testing.TB, n int, seed uint64) *Mixture {
	t.Helper()
	stream := rng.New(seed, "mixture", 0)
	x, logs := &Mixture{}, []float64(nil)
	for i := range n {
		g := correlated(t, 3, stream)
		for k := range g.mean {
			g.mean[k] = 3 * stream.NormFloat64()
		}
		x.parts, logs = append(x.parts, part{assumption: i, belief: g}), append(logs, stream.NormFloat64())
	}
	x.weigh(logs)
	return x
}

// Draws have the mean and the covariance that the mixture says, and those from standard
// normal numbers are draws too.
func TestMixtureMoments(t *testing.T) {
	const n = 200_000
	x, stream := mixed(t, 4, 1), rng.New(1, "draws", 0)
	mean, v := x.Mean(nil), []float64{1, -2, 0.5}
	var sum, square float64
	average := make([]float64, 3)
	for range n {
		theta := x.Sample(nil, stream)
		floats.AddScaled(average, 1./n, theta)
		u := floats.Dot(theta, v) - floats.Dot(mean, v)
		sum, square = sum+u/n, square+u*u/n
	}
	cov := make([]float64, 3)
	x.CovMul(cov, v)
	variance := floats.Dot(v, cov)
	for k := range mean {
		within(t, "mean", average[k], mean[k], 0.05)
	}
	if std := math.Sqrt(variance); math.Abs(sum) > 4*std/math.Sqrt(n) || math.Abs(square/variance-1) > 0.03 {
		t.Errorf("mean %v and variance %v of draws, want 0 and %v", sum, square, variance)
	}
}

// The parts are drawn as often as they weigh, and within a part the numbers that stand
// for the draw are standard normal and do not depend on the others.
func TestMixtureDraws(t *testing.T) {
	const n = 100_000
	x, stream := mixed(t, 3, 2), rng.New(2, "draws", 0)
	for i := range x.parts { // so far apart that a draw tells its part
		x.parts[i].belief = Isotropic(2, 1)
		x.parts[i].belief.mean[1] = 100 * float64(i)
	}
	count, first, square, both := make([]float64, 3), make([]float64, 3), make([]float64, 3), make([]float64, 3)
	z := make([]float64, 2)
	for range n {
		z[0], z[1] = stream.NormFloat64(), stream.NormFloat64()
		theta := x.SampleFrom(nil, z)
		i := int(math.Round(theta[1] / 100))
		count[i]++
		first[i] += theta[0]
		square[i] += theta[0] * theta[0]
		both[i] += theta[0] * z[1]
	}
	for i, p := range x.parts {
		se := 4 / math.Sqrt(count[i])
		if math.Abs(count[i]/n-p.weight) > 4*math.Sqrt(p.weight/n) || math.Abs(first[i]/count[i]) > se ||
			math.Abs(square[i]/count[i]-1) > 1.5*se || math.Abs(both[i]/count[i]) > se {
			t.Errorf("part %d of weight %.3f: %v of %d draws, mean %v, variance %v, product with the other number %v",
				i, p.weight, count[i], n, first[i]/count[i], square[i]/count[i], both[i]/count[i])
		}
	}
	far := x.SampleFrom(nil, []float64{40, 0}) // Φ rounds to 1
	if near := x.SampleFrom(nil, []float64{-40, 0}); !finite(far...) || !finite(near...) || far[1] != 200 || near[1] != 0 {
		t.Errorf("the ends of the line give %v and %v", near, far)
	}
}

// A mixture that is thinned has parts of equal shares, as near to the weights that were
// as can be.
func TestThin(t *testing.T) {
	for seed := range uint64(20) {
		x := mixed(t, 40, seed)
		out := x.thin(16)
		was, got, sum := map[int]float64{}, map[int]float64{}, 0.0
		for _, p := range x.parts {
			was[p.assumption] = p.weight
		}
		for _, p := range out.parts {
			got[p.assumption], sum = p.weight, sum+p.weight
		}
		if len(out.parts) > 16 || math.Abs(sum-1) > 1e-12 {
			t.Errorf("%d parts of weight %v", len(out.parts), sum)
		}
		for i, w := range was {
			if math.Abs(got[i]-w) >= 1./16 {
				t.Errorf("a part of weight %v has %v", w, got[i])
			}
		}
	}
	if x := mixed(t, 1, 1).thin(16); len(x.parts) != 1 || x.parts[0].weight != 1 {
		t.Errorf("one part: %+v", x.parts)
	}
}
