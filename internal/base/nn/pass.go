package nn

import "tiebreak/internal/base/gemm"

// Pass holds the activations and gradients of batches of a network. One goroutine
// may use it at a time. Rows of a batch are columns in its panels, so that the
// output of a layer is the right factor of the next without packing.
type Pass struct {
	net    *Net
	max    int // rows it has room for
	rows   int // of the last Forward
	act    []gemm.Panels
	delta  []gemm.Panels // dL/d(act), rounded up to multiples of 16 rows
	picked []gemm.Panels // activations of some rows, of BackwardInputOf
	work   []float32     // of addGrad
	grad   []float32     // as Net.p
	hidden [][]float32
	out    []float32
	dx     []float32
}

// NewPass returns a pass with room for batches of up to rows rows. It panics if
// rows is not positive.
func (n *Net) NewPass(rows int) *Pass {
	if rows < 1 {
		panic("nn: a pass without rows")
	}
	p := &Pass{net: n, max: rows, grad: make([]float32, len(n.p))}
	padded, widest := roundUp(rows), 0
	for i, size := range n.config.Sizes {
		height := n.height(i)
		p.act = append(p.act, gemm.Packed(make([]float32, padded*height), height))
		p.delta = append(p.delta, gemm.Packed(make([]float32, padded*roundUp(size)), roundUp(size)))
		if height > size {
			fillRow(p.act[i], size, padded)
		}
		if i > 0 {
			widest = max(widest, roundUp(size))
		}
	}
	p.work = make([]float32, gemm.OuterWork(widest, padded))
	p.hidden = make([][]float32, len(n.layers)-1)
	p.out, p.dx = make([]float32, rows*n.Out()), make([]float32, rows*n.In())
	return p
}

// height is the number of rows of the panels of activations i: their width, and
// what a bias multiplies.
func (n *Net) height(i int) int {
	if n.config.Bias && i < len(n.layers) {
		return n.config.Sizes[i] + 1
	}
	return n.config.Sizes[i]
}

// fillRow sets a row of panels to one: the input that a bias multiplies.
func fillRow(a gemm.Panels, row, cols int) {
	for j := range cols {
		a.Data[row*a.Row+j/gemm.Width*a.Panel+j%gemm.Width] = 1
	}
}

// Forward returns the outputs of rows rows of inputs: x is row-major rows×In, the
// result rows×Out and valid until the next Forward. It panics if x has another
// length or the pass less room. NaN and infinities propagate.
func (p *Pass) Forward(x []float32, rows int) []float32 {
	n := p.net
	if rows < 1 || rows > p.max || len(x) != rows*n.In() {
		panic("nn: inputs have the wrong length")
	}
	p.rows = rows
	n.path.Pack(p.act[0], x, rows, n.In())
	for i, l := range n.layers {
		m := gemm.Product{
			M: l.out, N: roundUp(rows), K: l.rows,
			A: gemm.Columns(l.of(n.p), l.ld), B: p.act[i], C: p.act[i+1],
		}
		if i+1 < len(n.layers) {
			m.After, m.Slope = gemm.Leaky, n.config.Slope
		}
		n.path.Mul(&m)
	}
	y := p.out[:rows*n.Out()]
	n.path.Unpack(y, p.act[len(n.layers)], rows, n.Out())
	return y
}

// Hidden returns the activations of a hidden layer, from 0, after Forward:
// row-major rows×width, valid until the next call for that layer.
func (p *Pass) Hidden(layer int) []float32 {
	width := p.net.layers[layer].out
	if p.hidden[layer] == nil {
		p.hidden[layer] = make([]float32, p.max*width)
	}
	h := p.hidden[layer][:p.rows*width]
	p.net.path.Unpack(h, p.act[layer+1], p.rows, width)
	return h
}

// Backward adds the gradient of Σ dy·y with respect to the parameters to the
// pass's gradient, where y is the result of the last Forward and dy has its shape.
// It panics if dy has another length.
func (p *Pass) Backward(dy []float32) {
	p.start(dy)
	for i := len(p.net.layers) - 1; i >= 0; i-- {
		p.addGrad(i)
		if i > 0 {
			p.back(i, p.rows, p.act[i])
		}
	}
}

// BackwardInput returns the gradient of Σ dy·y with respect to the inputs,
// row-major rows×In, valid until the next call. The pass's gradient is unchanged.
// It panics if dy has another length than the result of the last Forward.
func (p *Pass) BackwardInput(dy []float32) []float32 {
	p.start(dy)
	return p.inputs(p.rows, p.act, 0, p.net.In())
}

// BackwardInputOf does the same for some rows and for the inputs from to to−1 only:
// row k of the result, len(rows)×(to−from), is that of row rows[k], and dy is
// len(rows)×Out. Rows that are left out cost little, and the bits of the others stay
// the same.
func (p *Pass) BackwardInputOf(dy []float32, rows []int, from, to int) []float32 {
	if len(rows) > p.rows || len(dy) != len(rows)*p.net.Out() || from < 0 || to > p.net.In() || from >= to {
		panic("nn: rows or gradients of outputs do not fit")
	}
	if len(rows) == 0 {
		return nil
	}
	if p.picked == nil {
		for i, a := range p.act {
			p.picked = append(p.picked, gemm.Packed(make([]float32, len(a.Data)), p.net.height(i)))
		}
	}
	for i, l := range p.net.layers[1:] {
		p.net.path.Gather(p.picked[i+1], p.act[i+1], rows, l.in)
	}
	p.net.path.Pack(p.delta[len(p.net.layers)], dy, len(rows), p.net.Out())
	return p.inputs(len(rows), p.picked, from, to)
}

// inputs returns the gradient of inputs for rows with activations act, from that of
// the outputs.
func (p *Pass) inputs(rows int, act []gemm.Panels, from, to int) []float32 {
	for i := len(p.net.layers) - 1; i > 0; i-- {
		p.back(i, rows, act[i])
	}
	l := p.net.layers[0]
	p.net.path.Mul(&gemm.Product{
		M: to - from, N: roundUp(rows), K: l.out,
		A: gemm.Rows(l.of(p.net.p)[from*l.ld:], l.ld), B: p.delta[1], C: p.delta[0],
	})
	dx := p.dx[:rows*(to-from)]
	p.net.path.Unpack(dx, p.delta[0], rows, to-from)
	return dx
}

func (p *Pass) start(dy []float32) {
	if p.rows == 0 || len(dy) != p.rows*p.net.Out() {
		panic("nn: gradients of outputs have the wrong length")
	}
	p.net.path.Pack(p.delta[len(p.net.layers)], dy, p.rows, p.net.Out())
}

// addGrad adds the gradient of layer i's parameters, from the gradient of its
// outputs.
func (p *Pass) addGrad(i int) {
	l := p.net.layers[i]
	grad := gemm.Panels{Data: l.of(p.grad), Row: l.ld, Panel: gemm.Width}
	p.net.path.AddOuter(l.rows, l.ld, p.rows, p.act[i], p.delta[i+1], grad, p.work)
}

// back computes the gradient of the values before the leaky ReLU whose results,
// act, are layer i's inputs, from the gradient of its outputs.
func (p *Pass) back(i, rows int, act gemm.Panels) {
	l := p.net.layers[i]
	p.net.path.Mul(&gemm.Product{
		M: l.in, N: roundUp(rows), K: l.out,
		A: gemm.Rows(l.of(p.net.p), l.ld), B: p.delta[i+1], C: p.delta[i],
		After: gemm.Mask, Slope: p.net.config.Slope, H: act,
	})
}

// ZeroGrad sets the pass's gradient to zero.
func (p *Pass) ZeroGrad() { clear(p.grad) }

// Grad copies the pass's gradient to dst in the order of Net.Params. A nil dst is
// allocated; else its length must be the number of parameters.
func (p *Pass) Grad(dst []float32) []float32 { return p.net.gather(dst, p.grad) }
