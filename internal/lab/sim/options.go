package sim

import (
	"math"

	"tiebreak/internal/idrl"
)

// Options shape an expert. What its kind does not use may be anything in range.
type Options struct {
	// Range of θ·X: the difference that is as clear as can be, and the reward
	// that is rated 1. Required, > 0.
	Range float64

	// Of comparisons.

	Temperature  float64 // "bradley-terry" and "tie-band": scale of the logistic noise, in units of Range; +Inf clicks at random; default 0.1
	TieBand      float64 // "perfect" and "tie-band": the largest difference that looks equal, in units of Range; default 0
	ForcedChoice bool    // "tie-band": there is no 'equal' to choose, and the sign of what is perceived decides
	Teacher      Teacher // "b-pref"

	// Steps returns the features of each step of a clip, T×d; one row for a
	// still. "b-pref" alone looks at it, and only if it skips or is myopic. It
	// must agree with the question: X is the sum over the first clip of
	// Query.Clips less the sum over the second.
	Steps func(idrl.ClipID) [][]float64

	// Of ratings; NoiseStd also of comparisons by "numeric".

	NoiseStd  float64 // standard deviation, on the scale of ratings from -1 to 1; default 0; "perfect" has none
	Offset    float64 // of this annotator's ratings; default 0
	Scale     float64 // of this annotator's ratings, > 0; default 1
	Unclamped bool    // ratings may leave [-1, 1]: for experiments; no session takes such an answer
}

// A Teacher holds the parameters of a simulated teacher of B-Pref (Lee, Smith,
// Dragan and Abbeel, "B-Pref: Benchmarking Preference-Based Reinforcement
// Learning", NeurIPS 2021 Datasets and Benchmarks). The zero Teacher is its
// Oracle. R is the return of a clip, Σ θ·φ over its H steps, not divided by
// Options.Range. To compare a with b it takes these steps, in this order:
//
//  1. Skip, with the reason "other", if max(R_a, R_b) < SkipBelow: neither clip
//     shows what is wanted.
//  2. Weigh step t = 1..H by Discount^(H−t), which gives M_a and M_b.
//  3. Prefer a with probability 1/(1 + exp(−Beta (M_a − M_b))). If Beta is
//     infinite prefer a if M_a >= M_b, and else b.
//  4. With probability Mistake prefer the other clip.
//  5. If |R_a − R_b| < EqualWithin say equal, whatever was preferred.
//
// It takes two numbers from its stream, whatever it answers. Steps and order are
// those of the published code, with one difference of no weight: the code also
// skips if the larger return equals the threshold.
type Teacher struct {
	Beta        float64 // rationality, per unit of return; default +Inf
	Discount    float64 // γ of the myopic teacher, in (0, 1]; default 1
	Mistake     float64 // probability, in [0, 1]; default 0
	SkipBelow   float64 // in units of the return of a clip, >= 0; default 0 skips nothing
	EqualWithin float64 // in units of the return of a clip, >= 0; default 0
}

// needsSteps reports whether t looks at the steps of a clip.
func (t Teacher) needsSteps() bool { return t.SkipBelow > 0 || t.Discount < 1 }

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		field *float64
		value float64
	}{{&o.Temperature, 0.1}, {&o.Scale, 1}, {&o.Teacher.Beta, math.Inf(1)}, {&o.Teacher.Discount, 1}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	return o
}

// check returns an error of kind Invalid if an option is off its range.
func (o Options) check() error {
	switch {
	case !(o.Range > 0) || math.IsInf(o.Range, 1):
		return idrl.Errorf(idrl.Invalid, "the range of the expert's rewards must be a positive number; got %v", o.Range)
	case !(o.Temperature > 0):
		return idrl.Errorf(idrl.Invalid, "the expert's temperature must be a positive number; got %v", o.Temperature)
	case !(o.NoiseStd >= 0) || !(o.TieBand >= 0):
		return idrl.Errorf(idrl.Invalid, "the expert's noise and tie band must be 0 or more; got %v and %v", o.NoiseStd, o.TieBand)
	case !(math.Abs(o.Offset) <= math.MaxFloat64) || !(o.Scale > 0 && o.Scale <= math.MaxFloat64):
		return idrl.Errorf(idrl.Invalid, "the expert's offset of ratings must be a number and their scale positive; got %v and %v", o.Offset, o.Scale)
	}
	return o.Teacher.check()
}

func (t Teacher) check() error {
	switch {
	case !(t.Beta > 0):
		return idrl.Errorf(idrl.Invalid, "the teacher's beta must be positive; got %v", t.Beta)
	case !(t.Discount > 0 && t.Discount <= 1):
		return idrl.Errorf(idrl.Invalid, "the teacher's discount must be above 0 and at most 1; got %v", t.Discount)
	case !(t.Mistake >= 0 && t.Mistake <= 1):
		return idrl.Errorf(idrl.Invalid, "the teacher's share of mistakes must be 0 to 1; got %v", t.Mistake)
	case !(t.SkipBelow >= 0) || !(t.EqualWithin >= 0):
		return idrl.Errorf(idrl.Invalid, "the teacher's thresholds must be 0 or more; got %v to skip below and %v to be equal within", t.SkipBelow, t.EqualWithin)
	}
	return nil
}
