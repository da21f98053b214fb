package solver

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// A Gait is a policy in which one oscillator drives all actuators, with or without
// linear feedback from observations. At step t of an episode, dt seconds long, actuator
// j, whose bounds are mid_j ± half_j, gets
//
//	a_j = mid_j + half_j · clip(b_j + s_j sin 2πf t·dt + c_j cos 2πf t·dt + K_j·(o − mean)/std)
//
// where clip limits to [−1, 1] and o are the chosen observations. The frequency f is at
// most half a cycle a step.
type Gait struct {
	params    []float64
	omega     float64      // radians per step
	waves     [][3]float64 // b, s, c of each actuator, in its unit, b with mid and without K·mean/std
	rows      [][]float64  // of K, divided by std, in the actuator's unit; nil without feedback
	used      []int        // indices of o
	low, high []float64    // bounds of the actions
}

var _ idrl.Timed = (*Gait)(nil)

// gaitParts are the parameters of a gait by their meaning: slices of one list.
type gaitParts struct {
	oscillator []float64 // log f (f in Hz); then b, s, c of each actuator, in units of half
	used       []float64 // indices of the chosen observations, ascending; none without feedback
	gains      []float64 // K by rows, a row of len(used) numbers an actuator
	mean, std  []float64 // of the chosen observations
}

// OscillatorSize returns the number of parameters of a gait without feedback: 1 + 3·nu
// for nu actuators.
func OscillatorSize(spec idrl.EnvSpec) int { return 1 + 3*spec.Actions.Dim() }

// partsOf cuts the parameters of a gait into parts, which share their memory. It returns
// an error of kind Invalid if the environment has no bounded continuous actions or the
// number of parameters is wrong.
func partsOf(spec idrl.EnvSpec, params []float64) (p gaitParts, err error) {
	if err := CheckGaits(spec); err != nil {
		return p, err
	}
	nu, n := spec.Actions.Dim(), OscillatorSize(spec)
	extra := len(params) - n
	if extra < 0 || extra%(nu+3) != 0 {
		return p, idrl.Errorf(idrl.Invalid, "a gait of %s has %d numbers, and %d more for each observation that it uses; got %d", spec.ID, n, nu+3, len(params))
	}
	k := extra / (nu + 3)
	rest := params
	cut := func(n int) []float64 {
		part := rest[:n:n]
		rest = rest[n:]
		return part
	}
	return gaitParts{cut(n), cut(k), cut(k * nu), cut(k), cut(k)}, nil
}

// CheckGaits returns an error of kind Invalid if spec has no gaits.
func CheckGaits(spec idrl.EnvSpec) error {
	if !isBox(spec) {
		return idrl.Errorf(idrl.Invalid, "gaits need continuous actions, and %s has none", spec.ID)
	}
	for i, low := range spec.Actions.Low {
		if half := (spec.Actions.High[i] - low) / 2; !(half > 0) || math.IsInf(half, 0) {
			return idrl.Errorf(idrl.Invalid, "gaits need actions with bounds; those of action %d of %s are %v and %v", i, spec.ID, low, spec.Actions.High[i])
		}
	}
	return nil
}

// Within these bounds an action is finite for all observations that are.
const (
	maxGaitNumber = 1e6
	minGaitStd    = 1e-9
)

// NewGait returns the gait for an environment with these actions and observations. The
// parameters are
//
//	log f, f in Hz
//	b, s, c of each actuator, in units of half the width of its bounds
//	and with feedback from k observations:
//	their k indices, ascending
//	K by rows, k numbers an actuator
//	their k means and k standard deviations
//
// It returns an error of kind Invalid if the environment has no bounded continuous
// actions, if the number of parameters is wrong, if one is beyond ±10⁶ or NaN, if an
// index is not one of an observation, or if a standard deviation is below 10⁻⁹.
func NewGait(spec idrl.EnvSpec, params []float64) (*Gait, error) {
	parts, err := partsOf(spec, slices.Clone(params))
	if err != nil {
		return nil, err
	}
	for i, v := range params {
		if !(math.Abs(v) <= maxGaitNumber) {
			return nil, idrl.Errorf(idrl.Invalid, "number %d of a gait is %v, beyond ±%g", i, v, float64(maxGaitNumber))
		}
	}
	g := &Gait{
		params: slices.Clone(params), low: spec.Actions.Low, high: spec.Actions.High,
		omega: math.Min(2*math.Pi*math.Exp(parts.oscillator[0])*spec.StepSeconds, math.Pi),
	}
	if err := g.feed(spec, parts); err != nil {
		return nil, err
	}
	for j := range g.low {
		half := (g.high[j] - g.low[j]) / 2
		wave := [3]float64(parts.oscillator[1+3*j:])
		floats.Scale(half, wave[:])
		wave[0] += (g.high[j] + g.low[j]) / 2
		if g.rows != nil {
			floats.Scale(half, g.rows[j])
			wave[0] -= floats.Dot(g.rows[j], parts.mean)
		}
		g.waves = append(g.waves, wave)
	}
	return g, nil
}

// feed sets the feedback of g, K divided by std.
func (g *Gait) feed(spec idrl.EnvSpec, parts gaitParts) error {
	for i, v := range parts.used {
		if v != math.Trunc(v) || v < 0 || v >= float64(spec.ObsDim) || i > 0 && v <= parts.used[i-1] {
			return idrl.Errorf(idrl.Invalid, "a gait uses observation %v; they are numbered from 0 to %d and listed in ascending order", v, spec.ObsDim-1)
		}
		if parts.std[i] < minGaitStd {
			return idrl.Errorf(idrl.Invalid, "the standard deviation of observation %v of a gait is %v; it must be at least %g", v, parts.std[i], minGaitStd)
		}
		g.used = append(g.used, int(v))
	}
	k := len(g.used)
	for j := 0; k > 0 && j < spec.Actions.Dim(); j++ {
		row := parts.gains[j*k:][:k:k]
		floats.Div(row, parts.std)
		g.rows = append(g.rows, row)
	}
	return nil
}

// Act is ActAt at the start of an episode.
func (g *Gait) Act(dst idrl.Action, obs []float64, rng *rand.Rand) idrl.Action {
	return g.ActAt(dst, obs, 0, rng)
}

// ActAt stores the action after t steps of the episode in dst and returns it. It draws
// nothing. Any goroutine may call it.
func (g *Gait) ActAt(dst idrl.Action, obs []float64, t int, _ *rand.Rand) idrl.Action {
	sin, cos := math.Sincos(g.omega * float64(t))
	for j, w := range g.waves {
		v := w[0] + w[1]*sin + w[2]*cos
		if g.rows != nil {
			for i, o := range g.used {
				v += g.rows[j][i] * obs[o]
			}
		}
		dst[j] = math.Max(g.low[j], math.Min(g.high[j], v))
	}
	return dst
}

// A Wave is a gait in the units of its actions. After t steps of an episode with
// observation o it takes the action
//
//	clip(Constant + Sine·sin(Omega·t) + Cosine·cos(Omega·t) + Gain·o[Observations])
//
// where clip limits to Low and High.
type Wave struct {
	Omega        float64     `json:"omega"` // radians per step
	Constant     []float64   `json:"constant"`
	Sine         []float64   `json:"sine"`
	Cosine       []float64   `json:"cosine"`
	Observations []int       `json:"observations,omitempty"` // that feedback uses, from 0
	Gain         [][]float64 `json:"gain,omitempty"`         // a row an action, a column an observation
	Low          []float64   `json:"low"`
	High         []float64   `json:"high"`
}

// Wave returns g in the units of its actions.
func (g *Gait) Wave() Wave {
	w := Wave{Omega: g.omega, Observations: g.used, Gain: g.rows, Low: g.low, High: g.high}
	for _, part := range g.waves {
		w.Constant, w.Sine, w.Cosine = append(w.Constant, part[0]), append(w.Sine, part[1]), append(w.Cosine, part[2])
	}
	return w
}

// Params returns the numbers that NewGait takes. The caller must not change them.
func (g *Gait) Params() []float64 { return g.params }

// Hertz returns the frequency of the oscillator, in cycles per second of simulated time.
func (g *Gait) Hertz(spec idrl.EnvSpec) float64 { return g.omega / (2 * math.Pi * spec.StepSeconds) }

// Open returns the parameters of the same gait without feedback, as a copy. It acts as the gait does
// at the mean of the observations.
func (g *Gait) Open() []float64 { return slices.Clone(g.params[:1+3*len(g.waves)]) }

// The first frequencies of a search are log-normal around the environment's middle frequency,
// with standard deviation 0.5 of the logarithm. Its sizes are between 0.08 and 0.8 of half the
// width of the bounds, so that there are small and large motions.
const (
	middleHertz = 2
	hertzSpread = 0.5
	leastSize   = 0.08
	sizeSpan    = 10  // of the largest over the least
	largestBias = 0.4 // standard deviation of b, where the size is above
	mutationStd = 0.2
)

// RandomGait returns the parameters of a gait without feedback: log f is normal around
// the environment's middle frequency with standard deviation 0.5; then a size is drawn,
// log-uniform in 0.08 to 0.8, and s_j and c_j are normal with that standard deviation,
// and b_j with at most 0.4. It returns an error of kind Invalid if spec has no gaits.
func RandomGait(spec idrl.EnvSpec, rng *rand.Rand) ([]float64, error) {
	if err := CheckGaits(spec); err != nil {
		return nil, err
	}
	size := leastSize * math.Pow(sizeSpan, rng.Float64())
	params := make([]float64, OscillatorSize(spec))
	params[0] = math.Log(cmp.Or(spec.Gait.Hertz, middleHertz)) + hertzSpread*rng.NormFloat64()
	for j := 1; j < len(params); j += 3 {
		params[j] = min(largestBias, size) * rng.NormFloat64()
		params[j+1] = size * rng.NormFloat64()
		params[j+2] = size * rng.NormFloat64()
	}
	return params, nil
}

// Mutate returns the parameters with normal noise of standard deviation 0.2 on the
// oscillator; feedback stays.
func Mutate(spec idrl.EnvSpec, params []float64, rng *rand.Rand) []float64 {
	out := slices.Clone(params)
	for i := range OscillatorSize(spec) {
		out[i] += mutationStd * rng.NormFloat64()
	}
	return out
}
