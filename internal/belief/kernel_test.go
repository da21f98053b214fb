package belief

import (
	"math"
	"strings"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

func TestKernels(t *testing.T) {
	for _, test := range []struct {
		name string
		k    Kernel
		x, y []float64
		want float64
	}{
		{"squared exponential, one point", SE{4, 3}, []float64{1, 2}, []float64{1, 2}, 4},
		{"squared exponential, one length away", SE{4, 3}, []float64{1, 2}, []float64{1, 5}, 4 * math.Exp(-0.5)},
		{"squared exponential, a diagonal", SE{1, 1}, []float64{0, 0}, []float64{1, 1}, math.Exp(-1)},
		{"linear", LinearKernel{3}, []float64{1, 2}, []float64{-1, 5}, 27},
		{"one type", ObjectType{4, 4 / math.E}, []float64{0, 1}, []float64{0, 1}, 4},
		{"two types", ObjectType{4, 4 / math.E}, []float64{0, 1}, []float64{1, 0}, 4 / math.E},
	} {
		within(t, test.name, test.k.At(test.x, test.y), test.want, 1e-14)
		within(t, test.name+", exchanged", test.k.At(test.y, test.x), test.want, 1e-14)
	}
	// The code of the paper has the kernel of types from SE{4, 1} on one-hot types.
	within(t, "types", SE{4, 1}.At([]float64{0, 1}, []float64{1, 0}), ObjectType{4, 4 / math.E}.At([]float64{0, 1}, []float64{1, 0}), 1e-15)
}

// A process with the linear kernel on features φ(s) is the Gaussian over weights,
// seen at the states: after the same answers all predictions agree, of states more
// than features, too, where the kernel is singular and stands on its jitter.
func TestLinearKernelIsWeightSpace(t *testing.T) {
	const d, variance = 4, 3.0
	for _, test := range []struct {
		states      int
		jitter, tol float64
	}{
		{4, 0, 1e-10},
		{30, 1e-10, 1e-7}, // jitter·states/noise
	} {
		stream := rng.New(1, "weights", uint64(test.states))
		phi := make([][]float64, test.states)
		for s := range phi {
			phi[s] = normals(d, stream)
		}
		process, err := Representers(LinearKernel{variance}, phi, test.jitter)
		if err != nil {
			t.Fatal(err)
		}
		weights, rewards := Isotropic(d, variance), process.Prior
		for k := range 25 {
			states := []int{stream.IntN(test.states), stream.IntN(test.states), stream.IntN(test.states)}
			c := []float64{1, -1, 0.5}
			x := make([]float64, d)
			for j, s := range states {
				floats.AddScaled(x, c[j], phi[s])
			}
			y := stream.NormFloat64()
			weights = weights.ObserveVar(x, y, 0.1+float64(k%3))
			rewards = rewards.ObserveVar(process.X(states, c), y, 0.1+float64(k%3))
		}
		sphi, sx := make([]float64, d), make([]float64, test.states)
		for i := range phi {
			x := process.X([]int{i}, []float64{1})
			within(t, "mean", floats.Dot(x, rewards.mean), floats.Dot(phi[i], weights.mean), test.tol)
			weights.CovMul(sphi, phi[i])
			rewards.CovMul(sx, x)
			for j := range phi {
				within(t, "covariance", sx[j], floats.Dot(phi[j], sphi), test.tol)
			}
		}
	}
}

// States of one representation are one representer.
func TestRepresentersMerge(t *testing.T) {
	points := [][]float64{{1, 0}, {0, 1}, {1, 0}, {0, 0}, {math.Copysign(0, -1), 0}}
	r, err := Representers(ObjectType{4, 1}, points, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewSymDense(3, []float64{4.5, 1, 1, 1, 4.5, 1, 1, 1, 4.5})
	if !mat.Equal(covariance(r.Prior), want) || floats.Norm(r.Prior.mean, 1) != 0 {
		t.Errorf("prior N(%v, %v), want covariance %v", r.Prior.mean, r.Prior.cov, mat.Formatted(want))
	}
	for state, at := range []int{0, 1, 0, 2, 2} {
		if r.Index(state) != at {
			t.Errorf("state %d has representer %d, want %d", state, r.Index(state), at)
		}
	}
	if x := r.X([]int{0, 1, 2, 1, 4}, []float64{1, 0.5, 2, -1, 7}); !floats.Equal(x, []float64{3, -0.5, 7}) {
		t.Errorf("x = %v, want the weights added up", x)
	}
	if !panics(func() { r.X([]int{0}, nil) }) || !panics(func() { r.X([]int{5}, []float64{1}) }) {
		t.Error("a caller's mistake passed")
	}
}

func TestRepresentersRefuse(t *testing.T) {
	large := make([][]float64, MaxDim+1)
	for i := range large {
		large[i] = []float64{float64(i)}
	}
	for _, test := range []struct {
		name   string
		k      Kernel
		points [][]float64
		jitter float64
		want   string
	}{
		{"no states", SE{1, 1}, nil, 0, "at least one"},
		{"two lengths", SE{1, 1}, [][]float64{{1}, {1, 2}}, 0, "state 1"},
		{"no number", SE{1, 1}, [][]float64{{1}, {math.NaN()}}, 0, "state 1"},
		{"negative jitter", SE{1, 1}, [][]float64{{1}}, -1, "jitter"},
		{"infinite jitter", SE{1, 1}, [][]float64{{1}}, math.Inf(1), "jitter"},
		{"singular", LinearKernel{1}, [][]float64{{1}, {2}}, 0, "positive definite"},
		{"no covariance", ObjectType{1, 2}, [][]float64{{1}, {2}}, 0, "positive definite"},
		{"too many", SE{1, 1}, large, 0, "4096"},
	} {
		r, err := Representers(test.k, test.points, test.jitter)
		if idrl.KindOf(err) != idrl.Invalid || err == nil || !strings.Contains(err.Error(), test.want) || r.Prior != nil {
			t.Errorf("%s: error %v, want one of kind Invalid with %q", test.name, err, test.want)
		}
	}
}
