package nn

import (
	"fmt"
	"math"
	"math/rand/v2"

	"tiebreak/internal/base/gemm"
)

// maxSize limits the width of a layer, so that a damaged file cannot allocate all memory.
const maxSize = 1 << 14

// Config describes a network.
type Config struct {
	Sizes []int   // widths, input first, output last; at least two, each from 1 to 16,384
	Slope float32 // of the leaky ReLU after each hidden layer, in [0, 1]; 0 is ReLU
	Bias  bool    // whether layers add biases
}

// check returns an error if no network can have the configuration c.
func (c Config) check() error {
	if len(c.Sizes) < 2 {
		return fmt.Errorf("a network has an input and an output, but %d widths are given", len(c.Sizes))
	}
	for i, n := range c.Sizes {
		if n < 1 || n > maxSize {
			return fmt.Errorf("width %d of a network is %d, not between 1 and %d", i, n, maxSize)
		}
	}
	if !(c.Slope >= 0 && c.Slope <= 1) {
		return fmt.Errorf("the slope of a leaky ReLU is %v, not between 0 and 1", c.Slope)
	}
	return nil
}

// Net is the parameters of a dense network with a leaky ReLU after each hidden
// layer. Passes may read it at the same time; a change needs it alone.
type Net struct {
	config Config
	layers []layer
	p      []float32 // see layer
	path   gemm.Path
}

// layer is one layer's place among the parameters: a row-major matrix of in rows,
// and one more for the biases if there are any, with ld elements a row, of which
// out are used and the rest stay zero.
type layer struct {
	in, out int
	rows    int // in, plus 1 with biases
	ld      int // out, rounded up to a multiple of 16
	off     int
}

func (l layer) of(p []float32) []float32 { return p[l.off : l.off+l.rows*l.ld] }

// roundUp returns the smallest multiple of the panels' width that is at least n.
func roundUp(n int) int { return (n + gemm.Width - 1) / gemm.Width * gemm.Width }

// New returns a network whose parameters are zero.
func New(c Config) (*Net, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c.Sizes = append([]int(nil), c.Sizes...)
	n := &Net{config: c, path: gemm.Best}
	size := 0
	for i, out := range c.Sizes[1:] {
		l := layer{in: c.Sizes[i], out: out, rows: c.Sizes[i], ld: roundUp(out), off: size}
		if c.Bias {
			l.rows++
		}
		size += l.rows * l.ld
		n.layers = append(n.layers, l)
	}
	n.p = make([]float32, size)
	return n, nil
}

// Config returns what the network was made from.
func (n *Net) Config() Config {
	c := n.config
	c.Sizes = append([]int(nil), c.Sizes...)
	return c
}

// In and Out return the widths of the input and the output.
func (n *Net) In() int { return n.layers[0].in }

func (n *Net) Out() int { return n.layers[len(n.layers)-1].out }

// Len returns the number of parameters.
func (n *Net) Len() int {
	sum := 0
	for _, l := range n.layers {
		sum += l.rows * l.out
	}
	return sum
}

// Init draws each parameter from U(−1/√k, 1/√k), where k is the number of inputs
// of its layer, as torch.nn.Linear does by default: the weights of a layer, then
// its biases, layer by layer.
func (n *Net) Init(rng *rand.Rand) {
	p := make([]float32, 0, n.Len())
	for _, l := range n.layers {
		bound := 1 / math.Sqrt(float64(l.in))
		for range l.rows * l.out {
			p = append(p, float32((2*rng.Float64()-1)*bound))
		}
	}
	n.scatter(n.p, p)
}

// Params copies the parameters to dst in logical order: for each layer its
// weights, row-major out×in, then its biases. A nil dst is allocated; else its
// length must be Len.
func (n *Net) Params(dst []float32) []float32 { return n.gather(dst, n.p) }

// SetParams sets the parameters from p, in the order of Params. It returns an
// error if p has another length or a value that is not finite.
func (n *Net) SetParams(p []float32) error {
	if err := n.checkValues(p); err != nil {
		return err
	}
	n.scatter(n.p, p)
	return nil
}

func (n *Net) checkValues(p []float32) error {
	if len(p) != n.Len() {
		return fmt.Errorf("a network of %d parameters cannot have %d", n.Len(), len(p))
	}
	for i, v := range p {
		if v-v != 0 {
			return fmt.Errorf("parameter %d of a network is %v", i, v)
		}
	}
	return nil
}

// Polyak moves the parameters towards those of a network of the same shape:
// n ← n + tau·(from − n). It panics if the shapes differ.
func (n *Net) Polyak(from *Net, tau float32) {
	n.checkShape(from)
	n.path.Polyak(n.p, from.p, tau)
}

// Copy sets the parameters to those of a network of the same shape. It panics if
// the shapes differ.
func (n *Net) Copy(from *Net) {
	n.checkShape(from)
	copy(n.p, from.p)
}

func (n *Net) checkShape(m *Net) {
	for i, l := range n.layers {
		if len(n.layers) != len(m.layers) || m.layers[i] != l {
			panic("nn: networks of different shapes")
		}
	}
}

// gather copies padded values to logical order.
func (n *Net) gather(dst, padded []float32) []float32 {
	if dst == nil {
		dst = make([]float32, n.Len())
	}
	if len(dst) != n.Len() {
		panic("nn: destination has the wrong length")
	}
	n.each(func(logical, place int) { dst[logical] = padded[place] })
	return dst
}

// scatter copies values in logical order to their padded places.
func (n *Net) scatter(padded, p []float32) {
	n.each(func(logical, place int) { padded[place] = p[logical] })
}

// each calls f with every parameter's index in logical order and its place.
func (n *Net) each(f func(logical, place int)) {
	i := 0
	for _, l := range n.layers {
		for out := range l.out {
			for in := range l.in {
				f(i, l.off+in*l.ld+out)
				i++
			}
		}
		for out := range (l.rows - l.in) * l.out {
			f(i, l.off+l.in*l.ld+out)
			i++
		}
	}
}
