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
	// Answer returns an answer to q with only Choice and Rating filled in. All
	// its randomness comes from rng.
	Answer(q idrl.Query, rng *rand.Rand) idrl.Answer
}

// Experts returns the kinds of expert, the default first.
func Experts() []string { return []string{"bernoulli", "bradley-terry", "perfect"} }

// Options shape an expert. Only what its kind uses is looked at.
type Options struct {
	Range       float64 // of θ·X: the difference that is as clear as can be, and the reward that is rated 1; required, > 0
	Temperature float64 // "bradley-terry": of the logistic, in units of Range; default 0.1
	NoiseStd    float64 // of ratings, on their scale from -1 to 1; default 0; "perfect" has none
	TieBand     float64 // "perfect": answers equal if |θ·X| <= TieBand·Range; default 0
}

// NewExpert returns an expert of a kind. With u = θ·X and R = Range:
//
//	perfect        a if u > 0, b if u < 0, else equal
//	bernoulli      a with probability (1 + clamp(u/R, -1, 1))/2, as in the paper
//	bradley-terry  a with probability 1/(1 + exp(-u/(R·Temperature)))
//
// All rate by clamp(u/R + noise, -1, 1). NewExpert returns an error of kind
// Invalid if the kind is unknown or an option is off its range.
func NewExpert(kind string, task Task, opt Options) (Expert, error) {
	if opt.Temperature == 0 {
		opt.Temperature = 0.1
	}
	switch {
	case !slices.Contains(Experts(), kind):
		return nil, idrl.Errorf(idrl.Invalid, "unknown expert %q; known: %s", kind, strings.Join(Experts(), ", "))
	case !(opt.Range > 0) || math.IsInf(opt.Range, 1):
		return nil, idrl.Errorf(idrl.Invalid, "the range of the expert's rewards must be a positive number; got %v", opt.Range)
	case !(opt.Temperature > 0):
		return nil, idrl.Errorf(idrl.Invalid, "the expert's temperature must be a positive number; got %v", opt.Temperature)
	case !(opt.NoiseStd >= 0) || !(opt.TieBand >= 0):
		return nil, idrl.Errorf(idrl.Invalid, "the expert's noise and tie band must be 0 or more; got %v and %v", opt.NoiseStd, opt.TieBand)
	}
	if kind == "perfect" {
		opt.NoiseStd = 0
	}
	return expert{kind: kind, theta: slices.Clone(task.Theta), opt: opt}, nil
}

// An expert is immutable.
type expert struct {
	kind  string
	theta []float64
	opt   Options
}

func (e expert) Answer(q idrl.Query, rng *rand.Rand) idrl.Answer {
	if len(q.X) != len(e.theta) {
		panic("sim: the question is about another environment")
	}
	u := floats.Dot(e.theta, q.X) / e.opt.Range
	if !q.Kind.Comparison() {
		return idrl.Answer{Choice: idrl.Rated, Rating: clamp(u + e.opt.NoiseStd*rng.NormFloat64())}
	}
	if e.kind == "perfect" && math.Abs(u) <= e.opt.TieBand {
		return idrl.Answer{Choice: idrl.Equal}
	}
	if rng.Float64() < e.preferA(u) {
		return idrl.Answer{Choice: idrl.ChoseA}
	}
	return idrl.Answer{Choice: idrl.ChoseB}
}

// preferA returns the probability of preferring clip a, where u = θ·X/Range.
func (e expert) preferA(u float64) float64 {
	switch e.kind {
	case "bernoulli":
		return (1 + clamp(u)) / 2
	case "bradley-terry":
		return 1 / (1 + math.Exp(-u/e.opt.Temperature))
	default:
		if u > 0 {
			return 1
		}
		return 0
	}
}

func clamp(v float64) float64 { return max(-1, min(1, v)) }
