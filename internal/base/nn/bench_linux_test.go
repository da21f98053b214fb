package nn

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"golang.org/x/sys/unix"

	"tiebreak/internal/base/gemm"
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

// BenchmarkNet measures whole networks, in processor time. The share of the core's
// peak is measured against multiply-adds on registers in the same loop; only the
// multiply-adds with weights are counted as work.
func BenchmarkNet(b *testing.B) {
	for _, test := range []struct {
		name  string
		sizes []int
		bias  bool
		rows  int
	}{
		{"critic-256", []int{23, 256, 256, 1}, true, 256},
		{"policy-256", []int{18, 256, 256, 12}, true, 256},
		{"critic-64", []int{23, 64, 64, 1}, true, 256},
		{"policy-64", []int{18, 64, 64, 12}, true, 256},
		{"reward-64", []int{17, 64, 64, 1}, false, 5120},
	} {
		n := made(b, Config{Sizes: test.sizes, Bias: test.bias})
		o := must.Get(NewOptimiser(n, Adam{Rate: 1e-6, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}))(b)
		p := n.NewPass(test.rows)
		x, dy := normals(rng.New(1, "x", 0), test.rows*n.In()), normals(rng.New(1, "dy", 0), test.rows*n.Out())
		p.Forward(x, test.rows)
		e := n.NewEval(1)
		half := make([]int, 0, test.rows/2)
		for r := 0; r < test.rows; r += 2 {
			half = append(half, r)
		}
		forward := 0
		for i, in := range test.sizes[:len(test.sizes)-1] {
			forward += 2 * test.rows * in * test.sizes[i+1]
		}
		for _, part := range []struct {
			name  string
			flops int
			f     func()
		}{
			{"forward", forward, func() { p.Forward(x, test.rows) }},
			{"backward", 2*forward - 2*test.rows*test.sizes[0]*test.sizes[1], func() { p.Backward(dy) }},
			{"input", forward, func() { p.BackwardInput(dy) }},
			{"input-of-half", forward / 2, func() { p.BackwardInputOf(dy[:len(half)*n.Out()], half, 0, n.In()) }},
			{"one-row", 0, func() { e.Forward(x[:n.In()], 1) }},
			{"adam", 0, func() { o.Step(p) }},
			{"polyak", 0, func() { n.Polyak(n, 0.005) }},
		} {
			b.Run(fmt.Sprintf("%s/%s", test.name, part.name), func(b *testing.B) { measure(b, part.flops, part.f) })
		}
	}
}

// measure reports the median time of f, and its speed beside the peak.
func measure(b *testing.B, flops int, f func()) {
	var time, peak []float64 // seconds of f, and of an operation at the peak
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for b.Loop() {
		start := cpuTime(b)
		f()
		middle := cpuTime(b)
		n := gemm.Best.Peak(10_000)
		time, peak = append(time, middle-start), append(peak, (cpuTime(b)-middle)/n)
	}
	seconds := median(time)
	b.ReportMetric(seconds*1e6, "µs")
	if flops > 0 && gemm.Best != gemm.Portable {
		b.ReportMetric(float64(flops)/seconds*median(peak), "of-peak")
	}
	b.ReportMetric(0, "ns/op")
}
