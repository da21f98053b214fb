package nn

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"sync"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/gemm"
	"tiebreak/internal/base/rng"
)

// trained returns the parameters of three networks after training on path, each
// with its own batches, by that many goroutines.
func trained(t *testing.T, path gemm.Path, goroutines int) (params [3][]float32) {
	t.Helper()
	free := make(chan int, len(params))
	for i := range params {
		free <- i
	}
	close(free)
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for i := range free {
				n := made(t, Config{Sizes: []int{23, 36, 33, 5}, Slope: 0.01 * float32(i%2), Bias: i < 2})
				target := made(t, n.Config())
				n.path, target.path = path, path
				o, err := NewOptimiser(n, Adam{Rate: 0.01, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Decay: 0.001})
				if err != nil {
					t.Error(err)
					return
				}
				p := n.NewPass(20)
				for k := range 2 {
					train(n, p, o, rng.New(10, "batch", uint64(10*i+k)))
					target.Polyak(n, 0.1)
				}
				dx := p.BackwardInput(normals(rng.New(11, "dy", uint64(i)), 20*n.Out()))
				params[i] = slices.Concat(n.Params(nil), target.Params(nil), p.Hidden(1), dx)
			}
		})
	}
	wg.Wait()
	return params
}

// Training gives the same bits on every path of the processor and with any number
// of goroutines.
func TestSameBits(t *testing.T) {
	if gemm.Best == gemm.Portable {
		t.Log("this processor has no vector path")
	}
	want := trained(t, gemm.Portable, 1)
	for _, path := range gemm.Paths() {
		for goroutines := 1; goroutines <= 3; goroutines++ {
			for i, got := range trained(t, path, goroutines) {
				if !slices.EqualFunc(got, want[i], func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }) {
					t.Errorf("%v, %d goroutines: network %d differs", path, goroutines, i)
				}
			}
		}
	}
}

// The bits are those of every other processor: this fingerprint was computed on amd64
// and on arm64.
func TestFingerprint(t *testing.T) {
	n := made(t, Config{Sizes: []int{23, 36, 33, 5}, Slope: 0.01, Bias: true})
	o := must.Get(NewOptimiser(n, Adam{Rate: 0.01, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Decay: 0.001}))(t)
	r := rng.New(15, "batch", 0)
	uniform := func(k int) []float32 { // normal ones depend on the processor's logarithm
		x := make([]float32, k)
		for i := range x {
			x[i] = float32(2*r.Float64() - 1)
		}
		return x
	}
	p := n.NewPass(20)
	for range 3 {
		p.Forward(uniform(20*n.In()), 20)
		p.ZeroGrad()
		p.Backward(uniform(20 * n.Out()))
		o.Step(p)
	}
	u := uniform(20)
	a, slope, logSlope := make([]float32, 20), make([]float32, 20), make([]float32, 20)
	Squash(a, slope, logSlope, u)
	Exp(u, u)
	hash := fnv.New64a()
	for _, v := range slices.Concat(n.Params(nil), a, slope, logSlope, u) {
		hash.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
	}
	if got, want := hash.Sum64(), uint64(0xf02a09a185b5785d); got != want {
		t.Errorf("fingerprint %#x, want %#x", got, want)
	}
}

// Eval gives the bits of Pass.
func TestEval(t *testing.T) {
	for _, test := range shapes {
		n := made(t, test.config)
		x := normals(rng.New(13, "x", 0), test.rows*n.In())
		for _, path := range gemm.Paths() {
			n.path = path
			want := n.NewPass(test.rows).Forward(x, test.rows)
			e := n.NewEval(test.rows)
			if !slices.Equal(e.Forward(x, test.rows), want) {
				t.Errorf("%s, %v: other outputs than of a pass", test.name, path)
			}
			if !slices.Equal(e.Forward(x[:n.In()], 1), want[:n.Out()]) {
				t.Errorf("%s, %v: other outputs of one row", test.name, path)
			}
		}
	}
}

// Gradients of some rows and inputs are those among all.
func TestBackwardInputOf(t *testing.T) {
	for _, test := range shapes {
		n := made(t, test.config)
		x, dy := normals(rng.New(14, "x", 0), test.rows*n.In()), normals(rng.New(14, "dy", 0), test.rows*n.Out())
		for _, path := range gemm.Paths() {
			n.path = path
			p := n.NewPass(test.rows)
			p.Forward(x, test.rows)
			all := slices.Clone(p.BackwardInput(dy))
			for _, every := range []int{1, 2, 3, 7} {
				var rows []int
				var some []float32
				for r := test.rows - 1; r >= 0; r -= every {
					rows = append(rows, r)
					some = append(some, dy[r*n.Out():(r+1)*n.Out()]...)
				}
				from := (n.In() - 1) / 2
				got := p.BackwardInputOf(some, rows, from, n.In())
				for k, r := range rows {
					if width := n.In() - from; !slices.Equal(got[k*width:(k+1)*width], all[r*n.In()+from:(r+1)*n.In()]) {
						t.Fatalf("%s, %v: row %d of %d differs", test.name, path, r, len(rows))
					}
				}
			}
			if got := p.BackwardInputOf(nil, nil, 0, 1); len(got) != 0 {
				t.Errorf("%s: no rows have a gradient %v", test.name, got)
			}
		}
	}
}

// A row's output does not depend on the batch that it is in.
func TestBatchDoesNotMatter(t *testing.T) {
	n := made(t, Config{Sizes: []int{17, 64, 12}, Bias: true})
	x := normals(rng.New(12, "x", 0), 50*n.In())
	all := slices.Clone(n.NewPass(50).Forward(x, 50))
	p := n.NewPass(16)
	for _, rows := range []int{1, 2, 15, 16} {
		for r := 0; r+rows <= 50; r += rows {
			if y := p.Forward(x[r*n.In():(r+rows)*n.In()], rows); !slices.Equal(y, all[r*n.Out():(r+rows)*n.Out()]) {
				t.Fatalf("rows %d to %d alone give other bits", r, r+rows-1)
			}
		}
	}
}
