// Package nn holds the parts of a deep reward model: a small network whose last
// hidden layer gives the features of a step, a Laplace approximation of the
// belief about its last layer, the scores by which pairs of clips are chosen,
// and the schedule of labels.
//
// It follows the authors' code (docs/paper-code.md, section 6). Training is not
// part of it.
package nn

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// leak is the slope of the activation below zero.
const leak = 0.01

// A Network maps the input of a step, an observation and the action taken on
// it, to a reward. It has two hidden layers with leaky ReLU and no biases:
//
//	φ(x) = f(W2 f(W1 x)),  reward = w3·φ(x)
//
// Weights are single-precision numbers, as in the authors' code. It is
// immutable.
type Network struct {
	inputs, hidden int
	w1, w2         []float32 // by rows, hidden×inputs and hidden×hidden
	w3             []float64 // length hidden; single-precision values
}

// NewNetwork returns the network with these weights: w1 by rows, hidden×inputs
// numbers; w2 by rows, hidden×hidden; w3 of length hidden. They are copied. It
// panics if a length is wrong.
func NewNetwork(inputs, hidden int, w1, w2, w3 []float32) *Network {
	if inputs <= 0 || hidden <= 0 || len(w1) != hidden*inputs || len(w2) != hidden*hidden || len(w3) != hidden {
		panic("nn: the weights have the wrong lengths")
	}
	n := &Network{inputs: inputs, hidden: hidden, w1: slices.Clone(w1), w2: slices.Clone(w2)}
	for _, w := range w3 {
		n.w3 = append(n.w3, float64(w))
	}
	return n
}

// InputDim returns the length of an input.
func (n *Network) InputDim() int { return n.inputs }

// FeatureDim returns the length of φ.
func (n *Network) FeatureDim() int { return n.hidden }

// LastLayer returns w3, the mean of the belief about the reward's weights. The
// caller must not change it.
func (n *Network) LastLayer() []float64 { return n.w3 }

// Features stores Σ φ(x) over the steps of a clip in dst, whose length is
// FeatureDim, and returns it; nil allocates. A step is one input. It panics if a
// length is wrong.
func (n *Network) Features(dst []float64, steps [][]float64) []float64 {
	if dst == nil {
		dst = make([]float64, n.hidden)
	}
	if len(dst) != n.hidden {
		panic("nn: destination has the wrong length")
	}
	clear(dst)
	x := make([]float32, n.inputs)
	first, second := make([]float32, n.hidden), make([]float32, n.hidden)
	for _, step := range steps {
		if len(step) != n.inputs {
			panic("nn: an input has the wrong length")
		}
		for i, v := range step {
			x[i] = float32(v)
		}
		layer(first, n.w1, x)
		layer(second, n.w2, first)
		for i, v := range second {
			dst[i] += float64(v)
		}
	}
	return dst
}

// Reward returns the predicted reward of a clip with these features, or of a
// step: w3·phi.
func (n *Network) Reward(phi []float64) float64 { return floats.Dot(n.w3, phi) }

// layer stores f(W x) in dst, where W has the rows w.
func layer(dst, w, x []float32) {
	for i := range dst {
		sum := float32(0)
		for j, v := range w[i*len(x) : (i+1)*len(x)] {
			sum += v * x[j]
		}
		dst[i] = max(sum, leak*sum)
	}
}
