package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// NewMatched returns an expert who answers exactly as a session of spec assumes that
// people do, by a true reward with weights theta. Only with theta drawn from the
// session's prior and answers of this expert are the posterior's statements to be
// calibrated. With u = θ·X and the numbers of spec:
//
//	probit         compares p = u + NoiseStd·normal with a band: a if p > TieBand,
//	               b if p < −TieBand, else equal
//	bradley-terry  a with probability σ(β(u − TieBand)), b with σ(β(−u − TieBand)),
//	               else equal; β = √(8/π)/NoiseStd
//	bernoulli      a with probability (1 + clamp(u, −1, 1))/2, else b
//	gaussian       the nearest of 1 (a), 0 (equal) and −1 (b) to u + normal/2. The
//	               likelihood takes the three for any numbers, so that no expert
//	               can match it: this one is near where |u| is at most 1
//	much better    of the first two where |p| > MuchBand, if spec.Strength
//	both good      beside half of the answers of the first two, if spec.Remarks: where
//	               θ·Mid and noise of its own are above 0, else both bad
//	ratings        clamp(u + √RatingVar·normal, −1, 1)
//
// spec must have its defaults filled in. NewMatched returns an error of kind Invalid
// if the likelihood is unknown.
func NewMatched(spec idrl.SessionSpec, theta []float64) (Expert, error) {
	m := &matched{spec: spec, theta: slices.Clone(theta)}
	switch spec.Likelihood {
	case "probit":
		m.compare = m.probit
	case "bradley-terry":
		m.compare = m.bradleyTerry
	case "bernoulli":
		m.compare = m.bernoulli
	case "gaussian":
		m.compare = m.gaussian
	default:
		return nil, idrl.Errorf(idrl.Invalid, "unknown likelihood %q; known: %s", spec.Likelihood, strings.Join(idrl.Likelihoods(), ", "))
	}
	return m, nil
}

// A matched expert is immutable.
type matched struct {
	spec    idrl.SessionSpec
	theta   []float64
	compare func(u float64, rng *rand.Rand) idrl.Answer
}

// Answer implements Expert.
func (m *matched) Answer(q idrl.QueryVector, rng *rand.Rand) idrl.Answer {
	if q.Kind.Group() {
		return m.group(q, rng)
	}
	if len(q.X) != len(m.theta) {
		panic("sim: the question is about another environment")
	}
	u := floats.Dot(m.theta, q.X)
	if q.Kind.Comparison() {
		a := m.compare(u, rng)
		if m.spec.Remarks && len(q.Mid) > 0 {
			a.Remark = m.remark(floats.Dot(m.theta, q.Mid), rng)
		}
		return a
	}
	return idrl.Answer{Choice: idrl.Rated, Rating: clamp(u + math.Sqrt(m.spec.RatingVar)*rng.NormFloat64())}
}

func (m *matched) probit(u float64, rng *rand.Rand) idrl.Answer {
	return m.say(u + m.spec.NoiseStd*rng.NormFloat64())
}

func (m *matched) bradleyTerry(u float64, rng *rand.Rand) idrl.Answer {
	beta := math.Sqrt(8/math.Pi) / m.spec.NoiseStd
	v := rng.Float64()
	return m.say(u + math.Log(v/(1-v))/beta) // the logistic distribution by its quantile
}

// say returns the answer of one who perceives the difference p.
func (m *matched) say(p float64) idrl.Answer {
	a := idrl.Answer{Choice: beyond(p, m.spec.TieBand)}
	a.Much = m.spec.Strength && math.Abs(p) > m.spec.MuchBand
	return a
}

// remark returns what is remarked of two clips whose rewards are z on average: something
// in half of the cases, whatever z.
func (m *matched) remark(z float64, rng *rand.Rand) idrl.Remark {
	silent := rng.IntN(2) == 0
	plain := matched{spec: idrl.SessionSpec{NoiseStd: m.spec.NoiseStd}}
	perceive := plain.probit
	if m.spec.Likelihood == "bradley-terry" {
		perceive = plain.bradleyTerry
	}
	switch good := perceive(z, rng).Choice == idrl.ChoseA; {
	case silent:
		return ""
	case good:
		return idrl.BothGood
	default:
		return idrl.BothBad
	}
}

func (m *matched) bernoulli(u float64, rng *rand.Rand) idrl.Answer {
	return choose(rng.Float64() < (1+clamp(u))/2)
}

// gaussianStd is the standard deviation that sessions with the likelihood "gaussian"
// assume, as the paper's experiments do.
const gaussianStd = 0.5

func (m *matched) gaussian(u float64, rng *rand.Rand) idrl.Answer {
	return idrl.Answer{Choice: beyond(u+gaussianStd*rng.NormFloat64(), 0.5)}
}

// beyond returns the choice of one who perceives the difference p and calls equal what
// is within band.
func beyond(p, band float64) idrl.Choice {
	switch {
	case p > band:
		return idrl.ChoseA
	case p < -band:
		return idrl.ChoseB
	}
	return idrl.Equal
}
