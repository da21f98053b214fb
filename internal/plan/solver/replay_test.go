package solver_test

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// replay derives the iterations of a search again from what a drift remembers:
// the weights of a perturbed policy by least squares from its observations and
// actions, the update by the formula, the moments of observations in two passes.
type replay struct {
	a         solver.ARS
	weights   []float64 // 2×3 by rows
	seen      [][]float64
	mean, std []float64
	breaks    int // directions that were left out
}

// applied returns the weights that an episode's actions follow, given the scales.
func (r *replay) applied(t *testing.T, ep episode) []float64 {
	t.Helper()
	n := len(ep.obs)
	x, y := mat.NewDense(n, 3, nil), mat.NewDense(n, 2, nil)
	for i, obs := range ep.obs {
		for j := range obs {
			x.Set(i, j, (obs[j]-r.mean[j])/r.std[j])
		}
		y.SetRow(i, ep.actions[i])
	}
	var w mat.Dense
	must.Do(t, w.Solve(x, y))
	return mat.DenseCopyOf(w.T()).RawMatrix().Data
}

// iteration applies one iteration of perturbed episodes.
func (r *replay) iteration(t *testing.T, perturbed []episode, theta []float64) {
	t.Helper()
	type direction struct {
		delta       []float64
		plus, minus float64
	}
	var kept []direction
	var returns []float64
	for k := 0; k < len(perturbed); k += 2 {
		forth, back := perturbed[k], perturbed[k+1]
		if forth.broken || back.broken {
			r.breaks++
			continue
		}
		delta, opposite := r.applied(t, forth), r.applied(t, back)
		floats.Sub(delta, r.weights)
		floats.Sub(opposite, r.weights)
		floats.Scale(1/r.a.NoiseStd, delta)
		floats.Scale(-1/r.a.NoiseStd, opposite)
		if !floats.EqualApprox(delta, opposite, 1e-9) {
			t.Fatalf("forth %v, back %v: not one direction", delta, opposite)
		}
		d := direction{delta, floats.Dot(forth.mu(), theta), floats.Dot(back.mu(), theta)}
		kept, returns = append(kept, d), append(returns, d.plus, d.minus)
		r.seen = append(append(r.seen, forth.obs...), back.obs...)
	}
	slices.SortFunc(kept, func(a, b direction) int {
		if max(a.plus, a.minus) > max(b.plus, b.minus) {
			return -1
		}
		return 1
	})
	kept = kept[:min(len(kept), r.a.Top)]
	std := math.Sqrt(stat.PopVariance(returns, nil))
	for _, d := range kept {
		floats.AddScaled(r.weights, r.a.StepSize/(float64(len(kept))*std)*(d.plus-d.minus), d.delta)
	}
	if r.a.Normalise {
		r.scale()
	}
}

// scale sets the scales to the moments of what was seen.
func (r *replay) scale() {
	for j := range 3 {
		var column []float64
		for _, obs := range r.seen {
			column = append(column, obs[j])
		}
		r.mean[j], r.std[j] = stat.PopMeanStdDev(column, nil)
	}
}

func (r *replay) params() []float64 {
	if !r.a.Normalise {
		return r.weights
	}
	return slices.Concat(r.weights, r.mean, r.std)
}

// TestARSIterationsAreThoseOfThePaper: algorithms V1 and V2 of the paper of ARS,
// but for the standard deviation of all returns.
func TestARSIterationsAreThoseOfThePaper(t *testing.T) {
	const iterations, directions, evaluation = 4, 6, 3
	theta := []float64{1, 0.2}
	for _, test := range []struct {
		name  string
		v2    bool
		top   int
		step  float64
		limit float64
	}{
		{"V1", false, directions, 0.1, 0},
		{"V1 with top directions", false, 2, 0.1, 0},
		{"V1 that breaks down", false, 4, 0.05, 1.9},
		{"V2", true, directions, 0.1, 0},
		{"V2 with top directions", true, 3, 0.1, 0},
		{"V2 that breaks down", true, 4, 0.05, 1.9},
	} {
		t.Run(test.name, func(t *testing.T) {
			env := &drift{limit: test.limit}
			a := solver.ARS{
				StepSize: test.step, NoiseStd: 0.1, Directions: directions, Top: test.top,
				Iterations: iterations, Episodes: evaluation, Normalise: test.v2,
			}
			p, mu, err := a.SolveMu(t.Context(), idrl.SolveTask{Env: env, Theta: theta}, rng.New(3, "solve", 0))
			if err != nil {
				t.Fatal(err)
			}
			r := &replay{a: a, weights: make([]float64, 6), mean: make([]float64, 3), std: []float64{1, 1, 1}}
			left := env.episodes
			var want, wantMu []float64
			best, last := math.Inf(-1), 0
			for i := range iterations + 1 {
				if i > 0 {
					r.iteration(t, left[:2*directions], theta)
					left = left[2*directions:]
				}
				if i > 0 && !left[0].broken {
					if got := r.applied(t, left[0]); !floats.EqualApprox(got, r.weights, 1e-9) {
						t.Errorf("iteration %d: weights %v, want %v", i, got, r.weights)
					}
				}
				got := meanMu(left[:evaluation])
				if v := floats.Dot(got, theta); v > best && !anyBroken(left[:evaluation]) {
					best, want, wantMu, last = v, slices.Clone(r.params()), got, i
				}
				left = left[evaluation:]
			}
			if len(left) != 0 || last < 2 { // so that scales of V2 have been used
				t.Fatalf("%d episodes too many; the best policy is that of iteration %d", len(left), last)
			}
			if (r.breaks > 0) != (test.limit > 0) || r.breaks == iterations*directions {
				t.Errorf("%d directions broke down", r.breaks)
			}
			if !floats.EqualApprox(p.Params(), want, 1e-9) {
				t.Errorf("parameters = %v, want %v", p.Params(), want)
			}
			if !floats.EqualApprox(mu, wantMu, 1e-9) {
				t.Errorf("μ = %v, want %v", mu, wantMu)
			}
		})
	}
}
