package gemm

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"golang.org/x/sys/unix"

	"tiebreak/internal/base/rng"
)

// cpuTime returns how long the thread has run, in seconds: other load on the
// machine does not count.
func cpuTime(b *testing.B) float64 {
	var t unix.Timespec
	must.Do(b, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t))
	return float64(t.Nano()) / 1e9
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// BenchmarkMul measures products as a network needs them, in the shapes of soft
// actor-critic (widths 256, batch 256, 23 inputs, 16 outputs of the policy) and of
// a reward network (widths 64, 5,120 rows). Each is a layer with in inputs, out
// outputs and rows rows: its forward pass, the gradient of its inputs, that of its
// parameters with the transposition which that takes, and all three. The share of the core's
// peak is measured against multiply-adds on registers in the same loop.
func BenchmarkMul(b *testing.B) {
	for _, path := range Paths()[1:] {
		for _, s := range []struct{ rows, out, in int }{{256, 256, 23}, {256, 256, 256}, {256, 16, 256}, {5120, 64, 64}} {
			for _, kind := range []string{"forward", "input", "parameters", "layer"} {
				b.Run(fmt.Sprintf("%v/%dx%dx%d/%s", path, s.rows, s.out, s.in, kind), func(b *testing.B) {
					benchmarkLayer(b, path, kind, s.rows, s.out, s.in)
				})
			}
		}
	}
}

func benchmarkLayer(b *testing.B, path Path, kind string, rows, out, in int) {
	r := rng.New(1, "bench", 0)
	ld := (out + Width - 1) / Width * Width
	w := normals(r, (in+1)*ld)
	x, y := Packed(normals(r, rows*(in+1)), in+1), Packed(normals(r, rows*(out+1)), out+1)
	dx, delta := Packed(normals(r, rows*in), in), Packed(normals(r, rows*ld), ld)
	work, grad := make([]float32, OuterWork(ld, rows)), Panels{make([]float32, (in+1)*ld), ld, Width}
	do := map[string]func(){
		"forward": func() {
			path.Mul(&Product{M: out, N: rows, K: in + 1, A: Columns(w, ld), B: x, C: y, After: Leaky})
		},
		"input":      func() { path.Mul(&Product{M: in, N: rows, K: out, A: Rows(w, ld), B: delta, C: dx, After: Mask, H: x}) },
		"parameters": func() { path.AddOuter(in+1, ld, rows, x, delta, grad, work) },
	}
	f, products := do[kind], 1.0
	if kind == "layer" {
		products = 3
		f = func() {
			do["forward"]()
			do["input"]()
			do["parameters"]()
		}
	}
	var product, peak []float64 // seconds of a product, and of an operation at the peak
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for b.Loop() {
		start := cpuTime(b)
		f()
		middle := cpuTime(b)
		n := path.Peak(10_000)
		product, peak = append(product, middle-start), append(peak, (cpuTime(b)-middle)/n)
	}
	seconds := median(product)
	rate := products * 2 * float64(rows) * float64(out) * float64(in) / seconds
	b.ReportMetric(seconds*1e6, "µs")
	b.ReportMetric(rate/1e9, "GFLOP/s")
	b.ReportMetric(rate*median(peak), "of-peak")
	b.ReportMetric(0, "ns/op")
}
