package belief

import (
	"math"
	"slices"
	"strings"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/mat"
)

// leastNoise is the smallest variance of an answer's noise, as a share of the
// prior variance of a weight, with which a covariance kept by rank-one updates in
// float64 stays accurate: answers shrink it by about that factor, and rounding is
// 1e-16 of where it began.
const leastNoise = 1e-9

// slope is √(8/π) = 1.596: the logistic with β = slope/s is as steep at zero as
// the probit with standard deviation s, 1/(s√2π), and nowhere further from it than
// 0.018 in probability. Source: docs/methods.md, section 2.1, row Bradley–Terry.
var slope = math.Sqrt(8 / math.Pi)

// ForSpec returns the model that spec asks for in env, or an error of kind
// Invalid that says what to change. spec.NoiseStd and spec.TieBand set the probit
// and, in the same units, the logistic: β = 1.596/NoiseStd. "gaussian" and
// "bernoulli" use neither: the first has the paper's variance, the second a noise
// of 1 − u², and means that u lies in [−1, 1].
func ForSpec(spec idrl.SessionSpec, env idrl.Environment) (Model, error) {
	start, err := prior(spec, env)
	if err != nil {
		return Model{}, err
	}
	m := Model{Start: start, Group: BestWorst{NoiseStd: spec.NoiseStd, Lapse: GroupLapse}, OfGroups: spec.Kind.Group()}
	switch spec.RatingModel {
	case idrl.ClippedRatings:
		m.Rating = RatingClipped{NoiseVar: spec.RatingVar}
	case idrl.GaussianRatings:
		m.Rating = Rating{NoiseVar: spec.RatingVar}
	default:
		return Model{}, idrl.Errorf(idrl.Invalid, "unknown model of a rating %q; known: %s, %s", spec.RatingModel, idrl.ClippedRatings, idrl.GaussianRatings)
	}
	if err := m.compare(spec); err != nil {
		return Model{}, err
	}
	if err := checkNoise(spec); err != nil {
		return Model{}, err
	}
	return m, nil
}

// compare sets the models of a comparison and of a remark beside it that spec asks for.
func (m *Model) compare(spec idrl.SessionSpec) error {
	switch spec.Likelihood {
	case "probit":
		m.Comparison = graded(Probit{NoiseStd: spec.NoiseStd, TieBand: spec.TieBand}, spec)
	case "gaussian":
		m.Comparison = PlusMinus{NoiseVar: PaperNoiseVar}
	case "bradley-terry":
		m.Comparison = graded(BradleyTerry{Beta: slope / spec.NoiseStd, TieWidth: spec.TieBand}, spec)
	case "bernoulli":
		m.Comparison = BernoulliLinear{}
	default:
		return idrl.Errorf(idrl.Invalid, "unknown likelihood %q; known: %s", spec.Likelihood, strings.Join(idrl.Likelihoods(), ", "))
	}
	switch {
	case !spec.Remarks:
	case spec.Likelihood == "bradley-terry":
		m.Remark = BradleyTerry{Beta: slope / spec.NoiseStd}
	default:
		m.Remark = Probit{NoiseStd: spec.NoiseStd}
	}
	return nil
}

// graded returns l, with the band beyond which a clip is much better if spec asks for it.
func graded(l Banded, spec idrl.SessionSpec) idrl.Likelihood {
	if !spec.Strength {
		return l
	}
	return Graded{Of: l, Much: spec.MuchBand}
}

// checkNoise returns an error of kind Invalid if the noise of spec is not
// positive or too small beside the prior.
func checkNoise(spec idrl.SessionSpec) error {
	for _, v := range []float64{spec.NoiseStd, spec.TieBand, spec.RatingVar} {
		if !(v > 0) || !finite(v) {
			return idrl.Errorf(idrl.Invalid, "noise, tie band and rating variance must be positive numbers; got %v", v)
		}
	}
	largest := 1.0
	if len(spec.PriorScale) > 0 {
		largest = slices.Max(spec.PriorScale)
	}
	if least := leastNoise * spec.PriorVar * largest * largest; min(spec.NoiseStd*spec.NoiseStd, spec.RatingVar, PaperNoiseVar) < least {
		return idrl.Errorf(idrl.Invalid, "the noise of an answer is too small relative to the prior variance %v: "+
			"its variance must be at least %v; raise the noise or lower the prior variance", spec.PriorVar*largest*largest, least)
	}
	return nil
}

// prior returns the belief before the first answer that spec asks for in env.
func prior(spec idrl.SessionSpec, env idrl.Environment) (*Gaussian, error) {
	d := env.Spec().FeatureDim()
	if d < 1 || d > MaxDim {
		return nil, idrl.Errorf(idrl.Invalid, "environment %q has %d features; a posterior holds 1 to %d", env.Spec().ID, d, MaxDim)
	}
	if !(spec.PriorVar > 0) || !finite(spec.PriorVar) {
		return nil, idrl.Errorf(idrl.Invalid, "prior variance must be a positive number; got %v", spec.PriorVar)
	}
	scale, err := priorScale(spec, d)
	if err != nil {
		return nil, err
	}
	cov := mat.NewSymDense(d, nil)
	switch spec.Prior {
	case "linear":
		for i := range d {
			cov.SetSym(i, i, 1)
		}
	case "kernel":
		k, ok := env.(FeatureKernel)
		if !ok {
			return nil, idrl.Errorf(idrl.Invalid, "environment %q states no similarity between its features, so its prior must be \"linear\"; "+
				"\"kernel\" fits environments whose features are types of objects or states, such as gridworld", env.Spec().ID)
		}
		k.Kernel(cov)
	default:
		return nil, idrl.Errorf(idrl.Invalid, "unknown prior %q; known: linear, kernel", spec.Prior)
	}
	for i := range d {
		for j := range i + 1 {
			cov.SetSym(i, j, spec.PriorVar*scale[i]*scale[j]*cov.At(i, j))
		}
	}
	return NewGaussian(make([]float64, d), cov)
}

// priorScale returns the scales of the weights, ones where spec has none.
func priorScale(spec idrl.SessionSpec, d int) ([]float64, error) {
	if spec.PriorScale == nil {
		return slices.Repeat([]float64{1}, d), nil
	}
	if len(spec.PriorScale) != d {
		return nil, idrl.Errorf(idrl.Invalid, "the prior has %d scales for %d features", len(spec.PriorScale), d)
	}
	for _, v := range spec.PriorScale {
		if !(v > 0) || !finite(v) {
			return nil, idrl.Errorf(idrl.Invalid, "the scales of the prior must be positive numbers; got %v", v)
		}
	}
	return spec.PriorScale, nil
}
