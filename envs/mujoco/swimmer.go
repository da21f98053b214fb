package mujoco

import (
	"math/rand/v2"

	"tiebreak/envs/mujoco/engine"
)

// swimmer is Gym's Swimmer. Its positions are x and y of the front in metres, the
// heading, and the two joints.
func swimmer(t *task, m *engine.Model) {
	t.reset = func(e *Env, rng *rand.Rand) {
		uniform(e.d.QPos, 0.1, rng)
		uniform(e.d.QVel, 0.1, rng)
	}
	t.observe = func(e *Env, dst []float64) { copy(dst[copy(dst, e.d.QPos[2:]):], e.d.QVel) }
	t.features(
		moved("Distance forward", 0, 1).prior(2),
		moved("Distance to the left", 1, 1).prior(2),
		effort(1).prior(0.5),
		jerkiness(1).prior(2),
		moved("Turning left", 2, 1).prior(2),
		integral("Bend", func(e *Env) float64 { // of both joints, squared
			return e.d.QPos[3]*e.d.QPos[3] + e.d.QPos[4]*e.d.QPos[4]
		}).prior(0.5),
	)
	t.name = nameSwimmer
	t.appearance = swimmerAppearance()
}
