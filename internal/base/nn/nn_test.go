package nn

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
)

// shapes are networks whose widths are below, at and above multiples of the
// panels' width.
var shapes = []struct {
	name   string
	config Config
	rows   int
}{
	{"linear", Config{Sizes: []int{3, 2}, Bias: true}, 5},
	{"one of everything", Config{Sizes: []int{1, 1, 1}, Bias: true}, 1},
	{"ReLU", Config{Sizes: []int{23, 17, 1}, Bias: true}, 19},
	{"leaky, no biases", Config{Sizes: []int{5, 16, 16, 1}, Slope: 0.01}, 16},
	{"odd", Config{Sizes: []int{17, 31, 15, 12}, Slope: 0.2, Bias: true}, 18},
	{"many rows", Config{Sizes: []int{2, 3, 1}, Slope: 0.1, Bias: true}, 600},
}

// made returns a network of c with random parameters.
func made(t testing.TB, c Config) *Net {
	t.Helper()
	n := must.Get(New(c))(t)
	n.Init(rng.New(1, "net", 0))
	return n
}

func normals(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// forward is the network in float64, from parameters in logical order.
func forward(c Config, p, x []float64) []float64 {
	for i, out := range c.Sizes[1:] {
		in := c.Sizes[i]
		w := p[:in*out]
		p = p[in*out:]
		y := make([]float64, out)
		for o := range y {
			for k, v := range x {
				y[o] += w[o*in+k] * v
			}
		}
		if c.Bias {
			for o := range y {
				y[o] += p[o]
			}
			p = p[out:]
		}
		for o, v := range y {
			if i+2 < len(c.Sizes) && v < 0 {
				y[o] *= float64(c.Slope)
			}
		}
		x = y
	}
	return x
}

func wide(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// loss is Σ dy·y in float64.
func loss(c Config, p, x, dy []float64, rows int) float64 {
	in, out, sum := c.Sizes[0], c.Sizes[len(c.Sizes)-1], 0.0
	for r := range rows {
		for o, v := range forward(c, p, x[r*in:(r+1)*in]) {
			sum += v * dy[r*out+o]
		}
	}
	return sum
}

func TestForward(t *testing.T) {
	for _, test := range shapes {
		t.Run(test.name, func(t *testing.T) {
			n := made(t, test.config)
			p := n.NewPass(test.rows + 20)
			p.Forward(normals(rng.New(2, "x", 1), (test.rows+20)*n.In()), test.rows+20) // a smaller batch follows
			x := normals(rng.New(2, "x", 0), test.rows*n.In())
			y := p.Forward(x, test.rows)
			for r := range test.rows {
				for o, want := range forward(test.config, wide(n.Params(nil)), wide(x[r*n.In():(r+1)*n.In()])) {
					if got := float64(y[r*n.Out()+o]); math.Abs(got-want) > 1e-5 {
						t.Fatalf("output %d of row %d = %v, want %v", o, r, got, want)
					}
				}
			}
		})
	}
}

// The hidden activations are those of the network cut there.
func TestHidden(t *testing.T) {
	c := Config{Sizes: []int{4, 18, 16, 3}, Slope: 0.1, Bias: true}
	n := made(t, c)
	const rows = 21
	x := normals(rng.New(2, "x", 0), rows*n.In())
	p := n.NewPass(rows)
	p.Forward(x, rows)
	all := n.Params(nil)
	for layer, length := range []int{5 * 18, 5*18 + 19*16} {
		cut := made(t, Config{Sizes: append(slices.Clone(c.Sizes[:layer+2]), 1), Slope: c.Slope, Bias: true})
		params := make([]float32, cut.Len())
		copy(params, all[:length])
		h := p.Hidden(layer)
		width := c.Sizes[layer+1]
		for i := range width { // the output of the cut network picks one activation
			clear(params[length:])
			params[length+i] = 1
			must.Do(t, cut.SetParams(params))
			for r, want := range cut.NewPass(rows).Forward(x, rows) {
				if got := h[r*width+i]; got != want {
					t.Fatalf("layer %d, row %d, unit %d = %v, want %v", layer, r, i, got, want)
				}
			}
		}
	}
}

// Gradients agree with central differences of the same network in float64.
func TestGradient(t *testing.T) {
	const h = 1e-6
	for _, test := range shapes {
		t.Run(test.name, func(t *testing.T) {
			n := made(t, test.config)
			r := rng.New(3, "batch", 0)
			x, dy := normals(r, test.rows*n.In()), normals(r, test.rows*n.Out())
			p := n.NewPass(test.rows + 3)
			p.Forward(x, test.rows)
			p.Backward(dy)
			params, x64, dy64 := wide(n.Params(nil)), wide(x), wide(dy)
			agree := func(name string, got []float32, at []float64) {
				t.Helper()
				for i := 0; i < len(got); i += 1 + len(got)/150 {
					g, v := got[i], at[i]
					at[i] = v + h
					up := loss(test.config, params, x64, dy64, test.rows)
					at[i] = v - h
					down := loss(test.config, params, x64, dy64, test.rows)
					at[i] = v
					if want := (up - down) / (2 * h); math.Abs(float64(g)-want) > 1e-4*(1+math.Abs(want)) {
						t.Fatalf("dL/d%s[%d] = %v, central difference %v", name, i, g, want)
					}
				}
			}
			once := p.Grad(nil)
			agree("θ", once, params)
			agree("x", p.BackwardInput(dy), x64)
			if !slices.Equal(p.Grad(nil), once) {
				t.Error("BackwardInput changed the gradient of the parameters")
			}
			p.Backward(dy)
			for i, g := range p.Grad(nil) {
				if math.Abs(float64(g-2*once[i])) > 1e-5*(1+math.Abs(float64(g))) {
					t.Fatalf("after two Backwards dL/dθ[%d] = %v, want twice %v", i, g, once[i])
				}
			}
			p.ZeroGrad()
			if g := p.Grad(nil); !slices.Equal(g, make([]float32, n.Len())) {
				t.Error("ZeroGrad left a gradient")
			}
		})
	}
}

func TestInit(t *testing.T) {
	n := made(t, Config{Sizes: []int{100, 64, 7}, Bias: true})
	p := n.Params(nil)
	if want := 100*64 + 64 + 64*7 + 7; len(p) != want || n.Len() != want {
		t.Fatalf("%d parameters, Len %d, want %d", len(p), n.Len(), want)
	}
	for i, part := range [][]float32{p[:101*64], p[101*64:]} {
		bound := 1 / math.Sqrt(float64([]int{100, 64}[i]))
		sum, square := 0.0, 0.0
		for _, v := range part {
			if math.Abs(float64(v)) > bound {
				t.Fatalf("layer %d has a parameter %v outside ±%v", i, v, bound)
			}
			sum += float64(v)
			square += float64(v) * float64(v)
		}
		k := float64(len(part)) // U(−b, b) has mean 0 and variance b²/3; four standard errors
		if mean := sum / k; math.Abs(mean) > 4*bound/math.Sqrt(3*k) {
			t.Errorf("layer %d: mean %v", i, mean)
		}
		if v := square / k; math.Abs(v-bound*bound/3) > 4*bound*bound*math.Sqrt(4/(45*k)) {
			t.Errorf("layer %d: variance %v, want %v", i, v, bound*bound/3)
		}
	}
	again := made(t, n.Config())
	if !slices.Equal(again.Params(nil), p) {
		t.Error("the same seed gave another network")
	}
}

func TestSetParams(t *testing.T) {
	n := made(t, shapes[4].config)
	want := normals(rng.New(4, "p", 0), n.Len())
	must.Do(t, n.SetParams(want))
	if got := n.Params(make([]float32, n.Len())); !slices.Equal(got, want) {
		t.Error("Params does not return what SetParams set")
	}
	if n.SetParams(want[1:]) == nil {
		t.Error("SetParams took too few parameters")
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		p := slices.Clone(want)
		p[3] = float32(bad)
		if n.SetParams(p) == nil || !slices.Equal(n.Params(nil), want) {
			t.Errorf("SetParams took %v", bad)
		}
	}
}

func TestConfig(t *testing.T) {
	for _, test := range []struct {
		name string
		c    Config
	}{
		{"no layers", Config{}},
		{"one width", Config{Sizes: []int{4}}},
		{"width of zero", Config{Sizes: []int{4, 0, 1}}},
		{"negative width", Config{Sizes: []int{-1, 1}}},
		{"huge", Config{Sizes: []int{4, 1 << 30, 1}}},
		{"negative slope", Config{Sizes: []int{4, 1}, Slope: -0.1}},
		{"slope over one", Config{Sizes: []int{4, 1}, Slope: 1.5}},
		{"slope that is no number", Config{Sizes: []int{4, 1}, Slope: float32(math.NaN())}},
	} {
		if _, err := New(test.c); err == nil {
			t.Errorf("%s: no error", test.name)
		}
	}
}

func TestPolyak(t *testing.T) {
	c := shapes[2].config
	a, b := made(t, c), made(t, c)
	must.Do(t, b.SetParams(normals(rng.New(5, "p", 0), b.Len())))
	p, q := a.Params(nil), b.Params(nil)
	a.Polyak(b, 0.25)
	for i, got := range a.Params(nil) {
		if want := 0.75*float64(p[i]) + 0.25*float64(q[i]); math.Abs(float64(got)-want) > 1e-6 {
			t.Fatalf("parameter %d = %v, want %v", i, got, want)
		}
	}
	a.Copy(b)
	if !slices.Equal(a.Params(nil), q) {
		t.Error("Copy did not copy")
	}
}

// scalar is y = θx with θ = 0.5: its gradient at x = 1 is dy.
func scalar(t *testing.T) (*Net, *Pass) {
	n := made(t, Config{Sizes: []int{1, 1}})
	must.Do(t, n.SetParams([]float32{0.5}))
	p := n.NewPass(1)
	p.Forward([]float32{1}, 1)
	return n, p
}

// The values are those of torch.optim.Adam's documented formula in float64, for
// gradients 0.1, −0.2 and 0.3.
func TestAdam(t *testing.T) {
	for _, test := range []struct {
		decay float32
		want  [3]float64
	}{
		{0, [3]float64{0.4900000009999999, 0.4936610360388489, 0.4902286253947743}},
		{0.1, [3]float64{0.4900000006666666, 0.4905595349903038, 0.4853293242210629}},
	} {
		n, p := scalar(t)
		o := must.Get(NewOptimiser(n, Adam{Rate: 0.01, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Decay: test.decay}))(t)
		for i, dy := range []float32{0.1, -0.2, 0.3} {
			p.ZeroGrad()
			p.Backward([]float32{dy})
			o.Step(p)
			if got := float64(n.Params(nil)[0]); math.Abs(got-test.want[i]) > 1e-7 {
				t.Errorf("decay %v: after step %d θ = %v, want %v", test.decay, i+1, got, test.want[i])
			}
		}
	}
}

func TestAdamSettings(t *testing.T) {
	good := Adam{Rate: 0.01, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}
	nan := float32(math.NaN())
	for _, test := range []struct {
		name   string
		change func(a *Adam)
	}{
		{"rate", func(a *Adam) { a.Rate = -1 }},
		{"rate", func(a *Adam) { a.Rate = nan }},
		{"first", func(a *Adam) { a.Beta1 = 1 }},
		{"second", func(a *Adam) { a.Beta2 = -0.1 }},
		{"epsilon", func(a *Adam) { a.Eps = 0 }},
		{"weight", func(a *Adam) { a.Decay = float32(math.Inf(1)) }},
	} {
		a := good
		test.change(&a)
		if _, err := NewOptimiser(made(t, shapes[0].config), a); err == nil || !strings.Contains(err.Error(), test.name) {
			t.Errorf("%+v: error %v does not name the %s", a, err, test.name)
		}
	}
}

// train steps on one batch drawn from r.
func train(n *Net, p *Pass, o *Optimiser, r *rand.Rand) {
	const rows = 20
	p.Forward(normals(r, rows*n.In()), rows)
	p.ZeroGrad()
	p.Backward(normals(r, rows*n.Out()))
	o.Step(p)
}

// An optimiser that goes on from a state does what it would have done.
func TestState(t *testing.T) {
	n := made(t, shapes[4].config)
	a := Adam{Rate: 0.01, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Decay: 0.001}
	o, _ := NewOptimiser(n, a)
	p := n.NewPass(20)
	for i := range 5 {
		train(n, p, o, rng.New(6, "batch", uint64(i)))
	}
	m := made(t, n.Config())
	must.Do(t, m.SetParams(n.Params(nil)))
	resumed, _ := NewOptimiser(m, a)
	must.Do(t, resumed.SetState(o.State()))
	q := m.NewPass(20)
	for i := range 5 {
		train(n, p, o, rng.New(7, "batch", uint64(i)))
		train(m, q, resumed, rng.New(7, "batch", uint64(i)))
	}
	if !slices.Equal(n.Params(nil), m.Params(nil)) {
		t.Error("a resumed optimiser differs")
	}
	for name, change := range map[string]func(s *OptimiserState){
		"steps":    func(s *OptimiserState) { s.Steps = -1 },
		"short":    func(s *OptimiserState) { s.M = s.M[1:] },
		"negative": func(s *OptimiserState) { s.V[0] = -1 },
		"NaN":      func(s *OptimiserState) { s.M[0] = float32(math.NaN()) },
	} {
		bad := o.State()
		change(&bad)
		if resumed.SetState(bad) == nil {
			t.Errorf("%s: a damaged state was taken", name)
		}
	}
}

// NaN and infinities in the inputs reach the outputs and gradients of their rows
// and nothing crashes.
func TestNotFinite(t *testing.T) {
	n := made(t, Config{Sizes: []int{3, 18, 2}, Slope: 0.01, Bias: true})
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		p := n.NewPass(4)
		x := normals(rng.New(8, "x", 0), 12)
		clean := slices.Clone(p.Forward(x, 4))
		x[4] = float32(bad)
		y := p.Forward(x, 4)
		for i, v := range y {
			if row := i / 2; row == 1 != (v-v != 0) || row != 1 && v != clean[i] {
				t.Errorf("input %v: output %d = %v, was %v", bad, i, v, clean[i])
			}
		}
		p.Backward(y)
		if g := p.Grad(nil); !slices.ContainsFunc(g, func(v float32) bool { return v-v != 0 }) {
			t.Errorf("input %v: the gradient is finite", bad)
		}
	}
}

func TestWrongLengthPanics(t *testing.T) {
	n := made(t, shapes[0].config)
	p := n.NewPass(2)
	for name, f := range map[string]func(){
		"no rows":           func() { n.NewPass(0) },
		"short input":       func() { p.Forward(make([]float32, 5), 2) },
		"too many rows":     func() { p.Forward(make([]float32, 9), 3) },
		"backward too soon": func() { p.Backward(nil) },
		"no rows of eval":   func() { n.NewEval(0) },
		"eval input":        func() { n.NewEval(1).Forward(make([]float32, 2), 1) },
		"rows of inputs":    func() { p.BackwardInputOf(make([]float32, 6), make([]int, 3), 0, 3) },
		"destination":       func() { n.Params(make([]float32, 1)) },
		"other shape":       func() { n.Polyak(made(t, shapes[1].config), 0.5) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// A training step allocates nothing.
func TestAllocations(t *testing.T) {
	n := made(t, Config{Sizes: []int{23, 64, 64, 6}, Bias: true})
	target := made(t, n.Config())
	o, _ := NewOptimiser(n, Adam{Rate: 0.01, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8})
	p, e := n.NewPass(32), n.NewEval(3)
	x, dy := normals(rng.New(9, "x", 0), 32*23), normals(rng.New(9, "dy", 0), 32*6)
	rows := []int{3, 1, 4, 15, 9, 2, 6, 5, 30}
	if allocs := testing.AllocsPerRun(10, func() {
		p.Forward(x, 32)
		p.ZeroGrad()
		p.Backward(dy)
		p.BackwardInput(dy)
		p.BackwardInputOf(dy[:9*6], rows, 17, 23)
		o.Step(p)
		e.Forward(x[:3*23], 3)
		target.Polyak(n, 0.005)
	}); allocs != 0 {
		t.Errorf("a training step allocates %v times", allocs)
	}
}
