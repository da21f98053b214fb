package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tiebreak/internal/base/stats"
)

// TestRight: the share is that of a person who is simulated, and the noise of a share gives that share.
func TestRight(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	u, std := make([]float64, 400), make([]float64, 400)
	for i := range u {
		std[i] = 1 + float64(i%7)
		u[i] = std[i] * r.NormFloat64()
	}
	u = append(u, 0, 0) // neither is better
	std = append(std, 0)
	for _, right := range []float64{0.6, 0.7, stats.UsualRight, 0.99} {
		noise := stats.NoiseOfRight(u, right)
		if got := stats.Right(u, noise); math.Abs(got-right) > 1e-9 {
			t.Errorf("the noise of %v gives %v", right, got)
		}
		n, of := 0, 0
		for range 200 {
			for _, d := range u[:400] {
				of++
				if (d+noise*r.NormFloat64() > 0) == (d > 0) {
					n++
				}
			}
		}
		if got := float64(n) / float64(of); math.Abs(got-right) > 5*math.Sqrt(right*(1-right)/float64(of)) {
			t.Errorf("a person who should be right in %v is right in %v of %d", right, got, of)
		}
	}
	sum := 0.0
	const draws = 2000
	for range draws {
		for i, s := range std {
			u[i] = s * r.NormFloat64()
		}
		sum += stats.Right(u[:len(std)], 3) / draws
	}
	if want := stats.ExpectedRight(std, 3); math.Abs(sum-want) > 0.002 {
		t.Errorf("expected %v, on average %v", want, sum)
	}
	if got := stats.ExpectedRight([]float64{3}, 1); math.Abs(got-(0.5+math.Atan(3)/math.Pi)) > 1e-12 {
		t.Errorf("three times the noise: %v", got)
	}
}

// TestRightOfNothing: where neither clip of any pair is better, chance decides.
func TestRightOfNothing(t *testing.T) {
	if got := stats.Right([]float64{0}, 1); got != 0.5 {
		t.Error(got)
	}
	if got := stats.ExpectedRight([]float64{0}, 1); got != 0.5 {
		t.Error(got)
	}
	if got := stats.NoiseOfRight([]float64{0, 0}, 0.9); got != 1 {
		t.Error(got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a share of 1 has a noise")
		}
	}()
	stats.NoiseOfRight([]float64{1}, 1)
}
