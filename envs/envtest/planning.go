package envtest

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// samples is how often a random transition is drawn to compare its frequencies.
const samples = 2000

func testTabular(t *testing.T, env idrl.Tabular) {
	n, spec := env.NumStates(), env.Spec()
	phi := mat.NewDense(n, spec.FeatureDim(), nil)
	phi.Apply(func(_, _ int, _ float64) float64 { return math.NaN() }, phi)
	env.Features(phi)
	row := make([]float64, n)
	checkDistribution(t, "Start", env.Start(row))
	if got := env.Start(nil); !slices.Equal(got, row) {
		t.Error("Start(nil) differs from Start into a slice")
	}
	for s := range n {
		for a := range spec.Actions.Num {
			row[0] = math.NaN() // must be overwritten
			checkDistribution(t, "Transition", env.Transition(row, s, a))
			checkTransition(t, env, phi, row, s, a)
		}
	}
	if !panics(func() { env.Transition(make([]float64, n+1), 0, 0) }) {
		t.Error("Transition accepts a destination of the wrong length")
	}
	for k := range uint64(20) {
		s := int(env.Reset(rng.New(6, "env", k)).Obs[0])
		if env.Start(row)[s] <= 0 {
			t.Errorf("Reset starts in state %d, which Start says is impossible", s)
		}
	}
}

// checkTransition compares row, P(·|s,a), with what Step does.
func checkTransition(t *testing.T, env idrl.Tabular, phi *mat.Dense, row []float64, s, a int) {
	t.Helper()
	draws := 1
	if floats.Max(row) < 1 {
		draws = samples
	}
	env.Reset(rng.New(7, "env", uint64(s)))
	count := make([]float64, len(row))
	for range draws {
		env.Restore([]float64{float64(s), 0})
		step := env.Step(idrl.Action{float64(a)})
		to := int(step.Obs[0])
		count[to]++
		if !slices.Equal(step.Phi, phi.RawRowView(to)) {
			t.Fatalf("Step into state %d has features %v; Features says %v", to, step.Phi, phi.RawRowView(to))
		}
	}
	for to, p := range row {
		std := math.Sqrt(p * (1 - p) / float64(draws))
		if got := count[to] / float64(draws); math.Abs(got-p) > 6*std {
			t.Errorf("action %d leads from state %d to %d with frequency %v; Transition says %v", a, s, to, got, p)
		}
	}
}

func checkDistribution(t *testing.T, name string, p []float64) {
	t.Helper()
	if !finite(p) || floats.Min(p) < 0 || math.Abs(floats.Sum(p)-1) > 1e-12 {
		t.Fatalf("%s is not a distribution: it sums to %v", name, floats.Sum(p))
	}
}

func testDifferentiable(t *testing.T, env idrl.Differentiable) {
	spec := env.Spec()
	dim := spec.Actions.Dim()
	hold := max(1, spec.Actions.Hold)
	stream := rng.New(8, "differentiable", 0)
	theta := make([]float64, spec.FeatureDim())
	for trial := range 20 {
		for i := range theta {
			theta[i] = stream.NormFloat64()
		}
		var actions []float64
		for range spec.Horizon / hold {
			actions = append(actions, randomAction(spec.Actions, stream)...)
		}
		want, k := 0.0, 0
		act := func([]float64) idrl.Action {
			if k == spec.Horizon/2 {
				env.Return(nil, actions, theta) // must not disturb the episode
			}
			i := k / hold * dim
			k++
			return actions[i : i+dim]
		}
		for _, step := range idrl.Episode(env, act, stream) {
			if step.Kind != idrl.First {
				want += floats.Dot(theta, step.Phi)
			}
		}
		grad := make([]float64, len(actions))
		if got := env.Return(grad, actions, theta); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Fatalf("trial %d: Return = %v; the episode brought %v", trial, got, want)
		}
		checkGradient(t, env, grad, actions, theta)
	}
}

// checkGradient compares grad with central differences.
func checkGradient(t *testing.T, env idrl.Differentiable, grad, actions, theta []float64) {
	t.Helper()
	const h = 1e-6
	x := slices.Clone(actions)
	for i, v := range actions {
		x[i] = v + h
		up := env.Return(nil, x, theta)
		x[i] = v - h
		down := env.Return(nil, x, theta)
		x[i] = v
		if want := (up - down) / (2 * h); math.Abs(grad[i]-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("gradient[%d] = %v; central difference %v", i, grad[i], want)
		}
	}
}

func testKernel(t *testing.T, env interface{ Kernel(*mat.SymDense) }, d int) {
	k := mat.NewSymDense(d, nil)
	env.Kernel(k)
	for i := range d {
		if k.At(i, i) != 1 {
			t.Errorf("kernel[%d][%d] = %v, want 1", i, i, k.At(i, i))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		t.Error("the kernel is not positive definite")
	}
}
