package mujoco

import (
	"math"
	"math/rand/v2"

	"tiebreak/envs/mujoco/engine"
	"tiebreak/internal/idrl"
)

// reacher is Gym's Reacher: positions are the angles of the shoulder and the elbow
// and the place of the target. The fingertip is where the engine has it after a
// step, which is that of the last stage of the integration, and the distance that
// is rewarded is that before the step.
func reacher(t *task, m *engine.Model) {
	tip, target := m.ID(engine.BodyKind, "fingertip"), m.ID(engine.BodyKind, "target")
	at := func(e *Env, body int) []float64 { return e.d.XPos[3*body : 3*body+3] }
	t.memo = 4 // distance and place of the fingertip
	t.remember = func(e *Env) {
		e.note[0] = apart(at(e, tip), at(e, target))
		copy(e.note[1:], at(e, tip))
	}
	t.spec.Horizon = 50
	t.spec.EndSeconds = 1 // where the finger is at the end is what counts
	t.reset = reacherReset
	t.observe = func(e *Env, dst []float64) {
		sin1, cos1 := math.Sincos(e.d.QPos[0])
		sin2, cos2 := math.Sincos(e.d.QPos[1])
		obs := append(dst[:0], cos1, cos2, sin1, sin2, e.d.QPos[2], e.d.QPos[3], e.d.QVel[0], e.d.QVel[1])
		for k, v := range at(e, tip) {
			obs = append(obs, v-at(e, target)[k])
		}
	}
	t.features(
		integral("Distance to the target", func(e *Env) float64 { return 50 * e.note[0] }), // before the step
		effort(5).prior(0.5),
		jerkiness(2).prior(2),
		integral("At the target", func(e *Env) float64 { // 1 on it, 1/e at 5 cm
			far := apart(at(e, tip), at(e, target)) / 0.05
			return 5 * math.Exp(-far*far)
		}).prior(2),
		measured("Way of the fingertip", func(e *Env, _ idrl.Action) float64 { return 10 * apart(at(e, tip), e.note[1:]) }).prior(0.2),
		integral("Reaching out", func(e *Env) float64 { return 5 * math.Cos(e.d.QPos[1]) }), // stretched to folded
		moved("Turning left", 0, 1).prior(0.1),
	)
	t.name = nameReacher
	t.appearance = reacherAppearance()
}

// reacherReset draws a target uniformly from the disc of radius 0.2 m.
func reacherReset(e *Env, rng *rand.Rand) {
	uniform(e.d.QPos[:2], 0.1, rng)
	goal := e.d.QPos[2:]
	for clear(goal); ; clear(goal) {
		if uniform(goal, 0.2, rng); math.Hypot(goal[0], goal[1]) < 0.2 {
			break
		}
	}
	uniform(e.d.QVel[:2], 0.005, rng)
}

// apart returns the distance of two points in space.
func apart(a, b []float64) float64 {
	x, y, z := a[0]-b[0], a[1]-b[1], a[2]-b[2]
	return math.Sqrt(x*x + y*y + z*z)
}
