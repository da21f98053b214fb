package solver_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"
)

// rover is a cart of two numbers with a velocity each, x and y, that two actions in ±1
// push. Along y it is unstable: left alone, what it is off grows by a tenth a step. It has
// fallen where |y| > 1, and goes on. φ = (way along x, −squared size of the action, 1). It
// breaks down where x is beyond the limit.
type rover struct {
	limit float64 // 0: never
	steps int     // over all episodes
	t     int
	s     [4]float64 // x, y and their velocities
	obs   [4]float64
	phi   [3]float64
}

const roverHorizon = 60

func (e *rover) Spec() idrl.EnvSpec {
	return idrl.EnvSpec{
		ID: "rover", Version: 1, ObsDim: 4, FeatureNames: []string{"Way", "Ease", "Time"}, StepSeconds: 0.1, Horizon: roverHorizon,
		Discount: 1, ClipSteps: 20, Playback: 1, Actions: idrl.ActionSpec{Low: []float64{-1, -1}, High: []float64{1, 1}},
	}
}

func (e *rover) Reset(rng *rand.Rand) idrl.TimeStep {
	e.t = 0
	for i := range e.s {
		e.s[i] = 0.1 * rng.NormFloat64()
	}
	e.obs = e.s
	return idrl.TimeStep{Obs: e.obs[:]}
}

func (e *rover) Step(a idrl.Action) idrl.TimeStep {
	if !e.Spec().Actions.Contains(a) || e.t == roverHorizon {
		panic("rover: not an action, or the episode has ended")
	}
	e.t++
	e.steps++
	x := e.s[0]
	e.s[2] = 0.8*e.s[2] + 0.1*a[0]
	e.s[3] = 0.8*e.s[3] + 0.1*a[1]
	e.s[0] += e.s[2]
	e.s[1] = max(-5, min(5, 1.1*e.s[1]+e.s[3]))
	e.obs, e.phi = e.s, [3]float64{e.s[0] - x, -a[0]*a[0] - a[1]*a[1], 1}
	step := idrl.TimeStep{Obs: e.obs[:], Phi: e.phi[:], Kind: idrl.Mid}
	switch {
	case e.limit > 0 && math.Abs(e.s[0]) > e.limit:
		step.Kind, step.Broken = idrl.Truncated, true
	case e.t == roverHorizon:
		step.Kind = idrl.Truncated
	}
	return step
}

// fallingRover is a rover that tells of its falls.
type fallingRover struct{ rover }

func (e *fallingRover) Fallen() bool                     { return math.Abs(e.s[1]) > 1 }
func (e *fallingRover) Snapshot(dst []float64) []float64 { return append(dst[:0], e.s[:]...) }
func (e *fallingRover) Restore(s []float64)              { copy(e.s[:], s) }

var (
	_ idrl.Faller      = (*fallingRover)(nil)
	_ idrl.Snapshotter = (*fallingRover)(nil)
)

// balance returns the parameters of a gait that stands still: y and its velocity are fed
// back so that both decay (1.1 − 0.1·k and 0.8 − 0.1·k' on the diagonal, by trial).
func balance() []float64 {
	return slices.Concat(make([]float64, 7), []float64{1, 3}, []float64{0, 0, -5, -8}, []float64{0, 0}, []float64{1, 1})
}
