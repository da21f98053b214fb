package solver_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// drift is a linear system of three numbers with noise that two actions push.
// Its observation is the state, shifted and scaled. φ = (−squared size of the
// state, its first number). It breaks down when the state is larger than limit.
// It remembers its episodes.
type drift struct {
	limit    float64 // 0: never
	stop     func()  // if not nil called in step stopAt, counted over all episodes
	stopAt   int
	episodes []episode

	z   [3]float64
	rng *rand.Rand
	obs [3]float64
	phi [2]float64
}

// An episode is what a drift remembers: rows are steps.
type episode struct {
	obs, actions, phi [][]float64
	broken            bool
}

const (
	driftHorizon  = 12
	driftDiscount = 0.95
)

func (e *drift) Spec() idrl.EnvSpec {
	return idrl.EnvSpec{
		ID: "drift", Actions: idrl.ActionSpec{Low: []float64{-50, -50}, High: []float64{50, 50}},
		ObsDim: 3, FeatureNames: make([]string, 2), Horizon: driftHorizon, Discount: driftDiscount,
	}
}

func (e *drift) Reset(rng *rand.Rand) idrl.TimeStep {
	e.rng = rng
	e.episodes = append(e.episodes, episode{})
	for i := range e.z {
		e.z[i] = 2*rng.Float64() - 1
	}
	return idrl.TimeStep{Obs: e.observe()}
}

func (e *drift) observe() []float64 {
	e.obs = [3]float64{e.z[0], 0.5 + 2*e.z[1], -1 + 0.5*e.z[2]}
	return e.obs[:]
}

func (e *drift) Step(a idrl.Action) idrl.TimeStep {
	last := &e.episodes[len(e.episodes)-1]
	last.obs, last.actions = append(last.obs, slices.Clone(e.obs[:])), append(last.actions, slices.Clone(a))
	e.z = [3]float64{0.9*e.z[0] + a[0] + 0.1*e.z[1], 0.9*e.z[1] + a[1], 0.8*e.z[2] + 0.3*a[0] - 0.2*a[1]}
	for i := range e.z {
		e.z[i] += 0.1 * e.rng.NormFloat64()
	}
	size := floats.Dot(e.z[:], e.z[:])
	e.phi = [2]float64{-size, e.z[0]}
	step := idrl.TimeStep{Obs: e.observe(), Phi: e.phi[:], Kind: idrl.Mid}
	if e.stop != nil && e.steps()+1 == e.stopAt {
		e.stop()
	}
	switch {
	case e.limit > 0 && size > e.limit*e.limit:
		e.phi = [2]float64{math.NaN(), math.NaN()}
		step.Kind, step.Broken, last.broken = idrl.Truncated, true, true
	case len(last.obs) == driftHorizon:
		step.Kind = idrl.Truncated
	}
	last.phi = append(last.phi, slices.Clone(e.phi[:]))
	return step
}

// steps returns the number of steps so far.
func (e *drift) steps() int {
	n := 0
	for _, ep := range e.episodes {
		n += len(ep.phi)
	}
	return n
}

// mu returns the discounted feature sum of an episode.
func (ep episode) mu() []float64 {
	out := make([]float64, 2)
	for t, phi := range ep.phi {
		floats.AddScaled(out, math.Pow(driftDiscount, float64(t)), phi)
	}
	return out
}

// anyBroken reports whether one of the episodes broke down.
func anyBroken(episodes []episode) bool {
	return slices.ContainsFunc(episodes, func(ep episode) bool { return ep.broken })
}

// meanMu returns the mean discounted feature sum of episodes.
func meanMu(episodes []episode) []float64 {
	out := make([]float64, 2)
	for _, ep := range episodes {
		floats.AddScaled(out, 1/float64(len(episodes)), ep.mu())
	}
	return out
}
