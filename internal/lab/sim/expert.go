package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// An Expert answers questions by a true reward.
type Expert interface {
	// Answer returns an answer to q with only Choice and what belongs to it
	// filled in: Rating or Reason. All its randomness comes from rng.
	Answer(q idrl.QueryVector, rng *rand.Rand) idrl.Answer
}

// A kind of expert is a way to compare two clips.
type kind struct {
	name    string
	compare func(e *expert, q idrl.QueryVector, rng *rand.Rand) idrl.Answer
}

// kinds returns every kind, the default first.
func kinds() []kind {
	return []kind{
		{"bernoulli", (*expert).bernoulli},
		{"bradley-terry", (*expert).bradleyTerry},
		{"perfect", (*expert).perfect},
		{"numeric", (*expert).numeric},
		{"tie-band", (*expert).tieBand},
		{"b-pref", (*expert).teach},
	}
}

// Experts returns the kinds of expert, the default first.
func Experts() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// NewExpert returns an expert of a kind. With R = opt.Range, u = θ·X/R, T =
// opt.Temperature and s = opt.NoiseStd it compares so:
//
//	bernoulli      a with probability (1 + clamp(u, -1, 1))/2, as in the paper
//	bradley-terry  a with probability 1/(1 + exp(-u/T))
//	perfect        a if u > 0, b if u < 0, equal if |u| <= opt.TieBand
//	numeric        by the sign of p = u + s·normal: a with probability Φ(u/s).
//	tie-band       by the sign of p = u + T·logistic, and equal if |p| <=
//	               opt.TieBand, unless opt.ForcedChoice
//	b-pref         as the teachers of B-Pref do; see Teacher
//
// "deterministic" is another name of "perfect". All kinds rate alike, by
// clamp(opt.Offset + opt.Scale·u + s·normal, -1, 1); "perfect" has no noise.
// Comparisons of "numeric" and "tie-band" follow docs/methods.md, section 2.1,
// rows "probit" and "tie", and docs/reproduction.md, section 4.
//
// NewExpert returns an error of kind Invalid if the kind is unknown, an option
// is off its range, or opt.Steps is missing and needed.
func NewExpert(name string, task Task, opt Options) (Expert, error) {
	if name == "deterministic" {
		name = "perfect"
	}
	i := slices.Index(Experts(), name)
	if i < 0 {
		return nil, idrl.Errorf(idrl.Invalid, "unknown expert %q; known: %s", name, strings.Join(Experts(), ", "))
	}
	opt = opt.withDefaults()
	if err := opt.check(); err != nil {
		return nil, err
	}
	switch name {
	case "perfect":
		opt.NoiseStd = 0
	case "b-pref":
		if opt.Teacher.needsSteps() && opt.Steps == nil {
			return nil, idrl.Errorf(idrl.Invalid, "a b-pref expert that skips or is myopic must see each step; set Steps, or leave SkipBelow and Discount alone")
		}
	}
	return &expert{name: name, compare: kinds()[i].compare, theta: slices.Clone(task.Theta), opt: opt}, nil
}

// An expert is immutable.
type expert struct {
	name    string
	compare func(e *expert, q idrl.QueryVector, rng *rand.Rand) idrl.Answer
	theta   []float64
	opt     Options
}

func (e *expert) Answer(q idrl.QueryVector, rng *rand.Rand) idrl.Answer {
	if q.Kind.Group() {
		return e.group(q, rng)
	}
	if len(q.X) != len(e.theta) {
		panic("sim: the question is about another environment")
	}
	if q.Kind.Comparison() {
		return e.compare(e, q, rng)
	}
	return e.rate(q, rng)
}

// clarity returns u = θ·X/Range.
func (e *expert) clarity(q idrl.QueryVector) float64 { return floats.Dot(e.theta, q.X) / e.opt.Range }

func (e *expert) rate(q idrl.QueryVector, rng *rand.Rand) idrl.Answer {
	y := e.opt.Offset + e.opt.Scale*e.clarity(q) + e.opt.NoiseStd*rng.NormFloat64()
	if !e.opt.Unclamped {
		y = clamp(y)
	}
	return idrl.Answer{Choice: idrl.Rated, Rating: y}
}

func (e *expert) bernoulli(q idrl.QueryVector, rng *rand.Rand) idrl.Answer {
	return choose(rng.Float64() < (1+clamp(e.clarity(q)))/2)
}

func (e *expert) bradleyTerry(q idrl.QueryVector, rng *rand.Rand) idrl.Answer {
	return choose(rng.Float64() < logistic(e.clarity(q)/e.opt.Temperature))
}

func (e *expert) perfect(q idrl.QueryVector, _ *rand.Rand) idrl.Answer {
	u := e.clarity(q)
	if math.Abs(u) <= e.opt.TieBand {
		return idrl.Answer{Choice: idrl.Equal}
	}
	return choose(u > 0)
}

func (e *expert) numeric(q idrl.QueryVector, rng *rand.Rand) idrl.Answer {
	p := e.clarity(q) + e.opt.NoiseStd*rng.NormFloat64()
	if p == 0 {
		return idrl.Answer{Choice: idrl.Equal}
	}
	return choose(p > 0)
}

func (e *expert) tieBand(q idrl.QueryVector, rng *rand.Rand) idrl.Answer {
	v := rng.Float64()
	p := e.clarity(q) + e.opt.Temperature*math.Log(v/(1-v)) // the logistic distribution by its quantile
	if !e.opt.ForcedChoice && math.Abs(p) <= e.opt.TieBand {
		return idrl.Answer{Choice: idrl.Equal}
	}
	return choose(p > 0)
}

// choose returns the answer of one who prefers clip a, or else b.
func choose(a bool) idrl.Answer {
	if a {
		return idrl.Answer{Choice: idrl.ChoseA}
	}
	return idrl.Answer{Choice: idrl.ChoseB}
}

func logistic(v float64) float64 { return 1 / (1 + math.Exp(-v)) }

func clamp(v float64) float64 { return max(-1, min(1, v)) }
