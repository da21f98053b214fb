package mujoco

import (
	"math"
	"math/rand/v2"

	"tiebreak/envs/mujoco/engine"
)

// The pendulums stand on a cart, whose place on the rail in metres is the first
// position. Angles are positive to the right.

// lying is the height of a pole's tip above its cart, as a share of that of the pole that
// stands, below which the pole lies. Gym ends its episodes much earlier.
const lying = 0.5

// toTheRight is the place of the cart.
func toTheRight(scale float64) feature {
	return integral("Cart to the right", func(e *Env) float64 { return scale * e.d.QPos[0] })
}

func invertedPendulum(t *task, m *engine.Model) {
	t.reset = func(e *Env, rng *rand.Rand) {
		uniform(e.d.QPos, 0.01, rng)
		uniform(e.d.QVel, 0.01, rng)
	}
	t.observe = func(e *Env, dst []float64) { copy(dst[copy(dst, e.d.QPos):], e.d.QVel) }
	t.unstable = func(e *Env) bool { return !(math.Abs(e.d.QPos[1]) <= 0.2 && finite(e.d.QPos) && finite(e.d.QVel)) }
	t.fallen = func(e *Env) bool { return math.Cos(e.d.QPos[1]) < lying }
	t.features(
		constant(),
		integral("Tilt", func(e *Env) float64 { return e.d.QPos[1] * e.d.QPos[1] }), // squared
		integral("Leaning to the right", func(e *Env) float64 { return 2 * math.Sin(e.d.QPos[1]) }).prior(0.5),
		toTheRight(5).prior(0.2),
		integral("Cart off centre", func(e *Env) float64 { return 5 * e.d.QPos[0] * e.d.QPos[0] }).prior(0.5),
		effort(1).prior(0.5),
		jerkiness(0.5).prior(2),
	)
	t.name = namePendulum
	t.appearance = pendulumAppearance()
}

// invertedDoublePendulum is Gym's InvertedDoublePendulum. The tip is where the
// engine has it after a step, which is that of the last stage of the integration.
func invertedDoublePendulum(t *task, m *engine.Model) {
	site := m.ID(engine.SiteKind, "tip")
	tip := func(e *Env) (x, z float64) { return e.d.SiteXPos[3*site], e.d.SiteXPos[3*site+2] }
	t.reset = func(e *Env, rng *rand.Rand) {
		uniform(e.d.QPos, 0.1, rng)
		normal(e.d.QVel, 0.1, rng)
	}
	t.observe = func(e *Env, dst []float64) {
		sin1, cos1 := math.Sincos(e.d.QPos[1])
		sin2, cos2 := math.Sincos(e.d.QPos[2])
		obs := append(dst[:0], e.d.QPos[0], sin1, sin2, cos1, cos2)
		clipped(clipped(obs, e.d.QVel, 10), e.d.QFrcConstraint, 10)
	}
	t.unstable = func(e *Env) bool {
		_, z := tip(e)
		return !(z > 1)
	}
	t.fallen = func(e *Env) bool { // both poles are as long
		lower, upper := e.d.QPos[1], e.d.QPos[1]+e.d.QPos[2]
		return math.Cos(lower)+math.Cos(upper) < 2*lying
	}
	t.features(
		constant(),
		integral("Tip off centre", func(e *Env) float64 { // squared
			x, _ := tip(e)
			return x * x
		}).prior(2),
		integral("Tip too low", func(e *Env) float64 { // half the square of what it lacks to 2 m
			_, z := tip(e)
			return (z - 2) * (z - 2) / 2
		}),
		integral("Tip height", func(e *Env) float64 {
			_, z := tip(e)
			return 2 * z
		}),
		integral("Swing", func(e *Env) float64 { // squared angular velocities of the joints, that of the upper one five times
			lower, upper := e.d.QVel[1], e.d.QVel[2]
			return (lower*lower + 5*upper*upper) / 250
		}).prior(0.2),
		toTheRight(5).prior(0.2),
		effort(3),
		jerkiness(2),
	)
	t.name = namePendulum
	t.appearance = doublePendulumAppearance()
}
