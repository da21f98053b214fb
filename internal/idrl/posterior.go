package idrl

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A Posterior is an immutable Gaussian distribution of θ ∈ R^d, so goroutines may share it without
// a lock. A Gaussian process on a finite set of states is φ(s) one-hot with the kernel matrix as
// prior covariance.
type Posterior interface {
	// Dim returns d.
	Dim() int

	// Mean stores E[θ] in dst and returns it. If dst is nil a new slice is
	// allocated; otherwise its length must be d.
	Mean(dst []float64) []float64

	// CovMul stores Σx in dst, where Σ is the latent covariance of θ, without
	// observation noise: Var(θ·x) = x·Σx. dst and x must have length d and not
	// overlap.
	CovMul(dst, x []float64)

	// Sample stores a draw of θ in dst and returns it, under the rules of Mean.
	Sample(dst []float64, rng *rand.Rand) []float64

	// SampleFrom stores the draw of θ for the independent standard normal numbers z in dst and
	// returns it, under the rules of Mean. z has length d and may be dst.
	SampleFrom(dst, z []float64) []float64
}

// A Likelihood gives the probability of an answer, given the distribution of u = θ·x, namely u ~
// N(m, v). Source: docs/methods.md, section 2.1.
type Likelihood interface {
	// LogZ returns log Z(a; m, v) = log ∫ p(a|u) N(u; m, v) du and its first
	// two derivatives in m. a must be informative.
	LogZ(a Answer, m, v float64) (logZ, d1, d2 float64)

	// Info returns the information factor w = E_y[(∂ log Z/∂m)²]. For any
	// direction δ the expected posterior variance of θ·δ after asking is
	// δᵀΣδ − (δᵀΣx)² w.
	Info(m, v float64) float64
}

// Replies returns the replies to a comparison that l distinguishes: those that its method Replies
// names, else a, b and 'equal'. They must not be changed.
func Replies(l Likelihood) []Answer {
	if r, ok := l.(interface{ Replies() []Answer }); ok {
		return r.Replies()
	}
	return threeReplies[:]
}

var threeReplies = [...]Answer{{Choice: ChoseA}, {Choice: ChoseB}, {Choice: Equal}}

// Outcomes are the choices in reply to a comparison, in the order of Predict.
func Outcomes() [3]Choice { return [3]Choice{ChoseA, ChoseB, Equal} }

// Predict returns the probabilities of the answers a, b and 'equal' to a comparison under
// u ~ N(m, v), where a and b may be much better or not. They are scaled to add up to one, as
// likelihoods of numbers and those with an answer in between do not; NaN where they cannot be
// computed.
func Predict(l Likelihood, m, v float64) (p [3]float64) {
	sum, order := 0.0, Outcomes()
	for _, a := range Replies(l) {
		logZ, _, _ := l.LogZ(a, m, v)
		z := math.Exp(logZ)
		p[slices.Index(order[:], a.Choice)] += z
		sum += z
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}

// A RewardModel says how answers change the posterior of the weights of one representation. Its
// methods may be called from any goroutine.
type RewardModel interface {
	// Prior returns the distribution before the first answer.
	Prior() Posterior

	// Likelihood returns the model of the answer to q, which is not a group.
	Likelihood(q Query) Likelihood

	// Groups returns the model of the answer to a group, nil if there is none.
	Groups() GroupLikelihood

	// Condition returns the posterior after answer a to q; p is unchanged. An answer that is not
	// informative leaves the posterior as it is. It is cheap.
	Condition(p Posterior, q QueryVector, a Answer) (Posterior, error)

	// Fit returns the posterior after several answers at once, given the one before them; as[i]
	// answers qs[i]. It is a function of its arguments. It may take seconds, and returns ctx.Err()
	// soon after ctx is done.
	Fit(ctx context.Context, from Posterior, qs []QueryVector, as []Answer) (Posterior, FitReport, error)

	// ConditionOnPending returns the distribution with the mean of p and the covariance expected
	// after qs, which are open with annotators, are answered, whatever the answers: exact if their
	// noise is Gaussian. Without qs that is p. A question chosen under it does not repeat an open
	// question. Source: docs/methods.md, section 3.
	ConditionOnPending(p Posterior, qs ...QueryVector) Posterior

	// Encode returns the bytes of a posterior, and Decode the posterior from these bytes, bit for
	// bit. Decode returns an error if b was changed or cut, or has another number of weights than
	// Prior.
	Encode(p Posterior) ([]byte, error)
	Decode(b []byte) (Posterior, error)
}

// A Filter is the part of a RewardModel that updates posteriors by answers. It does not keep the
// lists that it receives.
type Filter interface {
	Prior() Posterior
	Condition(p Posterior, q QueryVector, a Answer) (Posterior, error)
	Fit(ctx context.Context, from Posterior, qs []QueryVector, as []Answer) (Posterior, FitReport, error)
}

// A FitReport describes a fit of several answers at once.
type FitReport struct {
	Answers   int  // informative ones that were fitted, and remarks beside them
	Sweeps    int  // over them
	Converged bool // Change is within the tolerance, and Skipped 0

	// Change is the greatest change by an answer in the last sweep, of the mean of its u in
	// standard deviations or of its precision in that of u.
	Change float64

	// Skipped counts the answers left as they were in the last sweep, because
	// without them the belief about u had no positive variance.
	Skipped int
}

// Moments returns the mean and variance of θ·x under p. work must have length d.
func Moments(p Posterior, x, mean, work []float64) (m, v float64) {
	p.CovMul(work, x)
	return floats.Dot(mean, x), max(0, floats.Dot(x, work))
}

// A GroupLikelihood gives the probability that one of n clips is called the best and another one
// the worst, given the distribution of u, the n − 1 differences of the rewards of the clips after
// the first from that of the first: u ~ N(m, V). Source: docs/methods.md, section 2.7.
type GroupLikelihood interface {
	// LogZ returns log Z = log ∫ p(best, worst|u) N(u; m, V) du, its gradient in m and
	// minus its second derivatives, for the clips at two different places. m has length
	// n − 1.
	LogZ(best, worst int, m []float64, v *mat.SymDense) (logZ float64, d1 []float64, d2 *mat.SymDense)

	// Info returns the information matrix W = E[d1 d1ᵀ] over the n(n − 1) answers: for any
	// direction δ the expected posterior variance of θ·δ is δᵀΣδ − gᵀWg with g = Cov(u, θ·δ).
	Info(m []float64, v *mat.SymDense) *mat.SymDense

	// Picks returns the probability of each of the n clips to be called the best, and the
	// worst.
	Picks(m []float64, v *mat.SymDense) (best, worst []float64)

	// RoughInfo is Info to about a tenth, for a sixth of the work: to order many groups.
	RoughInfo(m []float64, v *mat.SymDense) *mat.SymDense
}
