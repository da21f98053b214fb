package nn

import "fmt"

// A Penalty draws the parameters of a network to values of their own: Σ ½ k (w − at)²,
// over all of them.
type Penalty struct {
	net   *Net
	k, at []float32 // as Net.p
}

// NewPenalty returns the penalty with these k and values, in the order of Params. It
// returns an error if their lengths are wrong or a number is not finite.
func (n *Net) NewPenalty(k, at []float32) (*Penalty, error) {
	p := &Penalty{n, make([]float32, len(n.p)), make([]float32, len(n.p))}
	for _, list := range []struct{ padded, values []float32 }{{p.k, k}, {p.at, at}} {
		if err := n.checkValues(list.values); err != nil {
			return nil, fmt.Errorf("penalty: %w", err)
		}
		n.scatter(list.padded, list.values)
	}
	return p, nil
}

// Value returns the penalty of the network's present parameters.
func (q *Penalty) Value() (sum float64) {
	for i, w := range q.net.p {
		d := float64(w) - float64(q.at[i])
		sum += float64(q.k[i]) / 2 * d * d
	}
	return sum
}

// AddPenalty adds scale times the gradient of q, a penalty of the pass's network, to the
// pass's gradient. It has the same bits on every machine.
func (p *Pass) AddPenalty(q *Penalty, scale float32) {
	if q.net != p.net {
		panic("nn: a penalty of another network")
	}
	for i, w := range p.net.p {
		pull := float32(float32(scale*q.k[i]) * float32(w-q.at[i])) // conversions keep products from being fused with sums
		p.grad[i] += pull
	}
}
