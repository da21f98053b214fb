package regret

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// level is the probability with which a loss stays below idrl.Regret.Bound.
const level = 0.95

// The number of draws of θ is mostDraws. It is lower, but at least leastDraws, if they would
// take more than about budget multiplications.
const (
	mostDraws  = 1000
	leastDraws = 256
	budget     = 8_000_000
)

// draws returns the number of draws for p policies with d features.
func draws(d, p int) int {
	each := d*p + d*d/2 // the returns, and the draw itself
	return min(mostDraws, max(leastDraws, budget/max(1, each)))
}

// Leader returns the index of the policy with the highest mean return, the first of
// equals. There must be a policy. If single episodes of some policies are known
// (idrl.Candidate.Mus), only these may lead, and the score of each is its mean return less
// half of the standard deviation over the episodes: a gait that falls from one start in
// three scores lower than one that never falls.
func Leader(p idrl.Posterior, known []idrl.Candidate) int { return LeaderUnder(p.Mean(nil), known) }

// LeaderUnder is Leader under a posterior with that mean.
func LeaderUnder(mean []float64, known []idrl.Candidate) int {
	best := first(known)
	scores := Scores(mean, known)
	for j, score := range scores {
		if score > scores[best] {
			best = j
		}
	}
	return best
}

// first returns the index of the first policy that may lead.
func first(known []idrl.Candidate) int {
	return max(0, slices.IndexFunc(known, func(c idrl.Candidate) bool { return c.Mus != nil }))
}

// Scores returns the returns that Leader compares, each less what all of them share; −∞ of a policy that may not
// lead. There must be a policy.
func Scores(mean []float64, known []idrl.Candidate) []float64 {
	out, delta, from := make([]float64, len(known)), make([]float64, len(mean)), known[first(known)]
	for j, c := range known {
		if c.Mus == nil && from.Mus != nil {
			out[j] = math.Inf(-1)
			continue
		}
		out[j] = floats.Dot(mean, floats.SubTo(delta, c.Mu, from.Mu)) - Spread(mean, c)/2
	}
	return out
}

// Spread returns the (population) standard deviation of the returns of the known episodes of
// a policy under theta, 0 if there are none.
func Spread(theta []float64, c idrl.Candidate) float64 {
	if len(c.Mus) == 0 {
		return 0
	}
	returns := make([]float64, len(c.Mus))
	for i, mu := range c.Mus {
		returns[i] = floats.Dot(theta, mu)
	}
	return stat.PopStdDev(returns, nil)
}

// An Outlook computes statements, all from the same standard normal numbers, so that
// statements after successive answers do not differ by chance. It is owned by one goroutine.
type Outlook struct {
	tolerance float64 // idrl.Regret.Tolerance

	normal *rand.Rand
	z      []float64 // the first numbers of normal, as many as were needed

	*desk // during a statement
}

// A desk is the memory of a statement, about 100 KB. Sessions share desks, because most of them
// compute no statement most of the time.
type desk struct {
	theta               []float64 // n×d, one draw per row
	column              []float64 // returns of one policy
	most, least, leader []float64 // returns of the best, the worst and the leading policy
	delta               []float64 // length d
}

var desks = sync.Pool{New: func() any { return new(desk) }}

// New returns an Outlook whose random numbers are those of stream, which it owns.
// tolerance is the share of the span up to which a loss counts as small.
func New(tolerance float64, stream *rand.Rand) *Outlook {
	return &Outlook{tolerance: tolerance, normal: stream}
}

// Statement returns the cost of stopping with known[leader] under p, over the known
// policies. It is a function of its arguments and of the beginning of the stream, and does
// not depend on earlier statements. Seq is left 0, and Policies is the number of known
// policies, including alike ones. The dimension of p must be the same in all calls.
func (o *Outlook) Statement(p idrl.Posterior, known []idrl.Candidate, leader int) idrl.Regret {
	o.desk = desks.Get().(*desk)
	defer func() {
		desks.Put(o.desk)
		o.desk = nil
	}()
	n := o.draw(p, len(known))
	o.spans(known, leader)
	out := idrl.Regret{Definition: idrl.RegretDefinition, Policies: len(known), Tolerance: o.tolerance}
	within, losses := 0, o.leader[:0] // shares above 0; the others are 0, also where the span is
	for i, most := range o.most {
		loss, span := most-o.leader[i], most-o.least[i]
		if loss <= o.tolerance*span {
			within++
		}
		if loss > 0 {
			losses = append(losses, loss/span)
		}
		out.Span += span / float64(n)
	}
	out.Within, out.Unbeaten = float64(within)/float64(n), float64(n-len(losses))/float64(n)
	out.Mean = floats.Sum(losses) / float64(n)
	slices.Sort(losses)
	if place := int(math.Ceil(level*float64(n+1))) - 1 - (n - len(losses)); place >= 0 {
		out.Bound = losses[place]
	}
	return out
}

// draw sets theta to draws of θ, makes room for their returns, and returns how many
// there are.
func (o *Outlook) draw(p idrl.Posterior, policies int) int {
	d := p.Dim()
	n := draws(d, policies)
	for _, s := range []*[]float64{&o.column, &o.most, &o.least, &o.leader} {
		*s = slices.Grow((*s)[:0], n)[:n]
	}
	o.theta, o.delta = slices.Grow(o.theta[:0], n*d)[:n*d], slices.Grow(o.delta[:0], d)[:d]
	for len(o.z) < n*d {
		o.z = append(o.z, o.normal.NormFloat64())
	}
	for i := range n {
		p.SampleFrom(o.theta[i*d:(i+1)*d], o.z[i*d:(i+1)*d])
	}
	return n
}

// spans sets most, least and leader to the returns under every draw, each less that
// of the first policy.
func (o *Outlook) spans(known []idrl.Candidate, leader int) {
	clear(o.most)
	clear(o.least)
	clear(o.leader)
	n, d := len(o.column), len(o.delta)
	theta := blas64.General{Rows: n, Cols: d, Stride: d, Data: o.theta}
	for j, c := range known[1:] {
		floats.SubTo(o.delta, c.Mu, known[0].Mu)
		blas64.Gemv(blas.NoTrans, 1, theta, blas64.Vector{N: d, Inc: 1, Data: o.delta}, 0, blas64.Vector{N: n, Inc: 1, Data: o.column})
		for i, r := range o.column {
			if r > o.most[i] {
				o.most[i] = r
			}
			if r < o.least[i] {
				o.least[i] = r
			}
		}
		if j+1 == leader {
			copy(o.leader, o.column)
		}
	}
}
