package nn

import "tiebreak/internal/base/gemm"

// Eval computes outputs of a network without gradients, with the bits of Pass. It
// is faster than a Pass for batches of less than 16 rows. One goroutine may use it at
// a time.
type Eval struct {
	net  *Net
	max  int
	act  [][]float32 // row-major; see stride
	out  []float32
	work gemm.Product
}

// stride is the number of elements in a row of Eval's activations of a width. It
// has room for the whole panels of a product, and for the one that a bias multiplies.
func stride(width int) int { return roundUp(width) + 1 }

// NewEval returns an Eval with room for batches of up to rows rows. It panics if
// rows is not positive.
func (n *Net) NewEval(rows int) *Eval {
	if rows < 1 {
		panic("nn: an evaluation without rows")
	}
	e := &Eval{net: n, max: rows, out: make([]float32, rows*n.Out())}
	for _, width := range n.config.Sizes {
		e.act = append(e.act, make([]float32, rows*stride(width)))
	}
	return e
}

// Forward returns the outputs of rows rows of inputs: x is row-major rows×In, the
// result rows×Out and valid until the next Forward. It panics if x has another
// length or e less room.
func (e *Eval) Forward(x []float32, rows int) []float32 {
	n := e.net
	if rows < 1 || rows > e.max || len(x) != rows*n.In() {
		panic("nn: inputs have the wrong length")
	}
	for r := range rows {
		copy(e.act[0][r*stride(n.In()):], x[r*n.In():(r+1)*n.In()])
	}
	for i, l := range n.layers {
		e.one(i, rows)
		e.work = gemm.Product{
			M: rows, N: l.ld, K: l.rows, A: gemm.Rows(e.act[i], stride(l.in)),
			B: gemm.Panels{Data: l.of(n.p), Row: l.ld, Panel: gemm.Width},
			C: gemm.Panels{Data: e.act[i+1], Row: stride(l.out), Panel: gemm.Width},
		}
		if i+1 < len(n.layers) {
			e.work.After, e.work.Slope = gemm.Leaky, n.config.Slope
		}
		n.path.Mul(&e.work)
	}
	y := e.act[len(n.layers)]
	for r := range rows {
		copy(e.out[r*n.Out():(r+1)*n.Out()], y[r*stride(n.Out()):])
	}
	return e.out[:rows*n.Out()]
}

// one sets what the biases of layer i multiply.
func (e *Eval) one(i, rows int) {
	if e.net.config.Bias {
		width := e.net.layers[i].in
		for r := range rows {
			e.act[i][r*stride(width)+width] = 1
		}
	}
}
