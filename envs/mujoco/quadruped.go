package mujoco

import (
	"math"

	"tiebreak/envs/mujoco/engine"
	"tiebreak/internal/idrl"
)

// ant is Gym's Ant. Its velocity is that of the trunk as the engine has it after a
// step, which is that of the last stage of the integration. Forces of contacts are
// computed: mujoco-py with MuJoCo 2.0, on which the paper's results were made, had
// zeros in their place (docs/mujoco.md, section 2).
func ant(t *task, m *engine.Model) {
	trunk := m.ID(engine.BodyKind, "trunk")
	place := func(e *Env) []float64 { return e.d.XPos[3*trunk : 3*trunk+2] }
	t.memo = 2
	t.remember = func(e *Env) { copy(e.note, place(e)) }
	t.reset = antReset
	t.observe = func(e *Env, dst []float64) {
		e.must(e.d.ContactForces())
		antGaitObs(e, dst)
		clipped(dst[:antObs], e.d.CFrcExt, 1)
	}
	t.unstable = func(e *Env) bool {
		z := e.d.QPos[2]
		return !(z >= 0.2 && z <= 1 && finite(e.d.QPos) && finite(e.d.QVel))
	}
	t.fallen = antFallen // Gym's test of health takes an ant on its back for sound
	t.features(
		measured("Distance forward", func(e *Env, _ idrl.Action) float64 { return place(e)[0] - e.note[0] }).prior(2),
		measured("Distance to the left", func(e *Env, _ idrl.Action) float64 { return place(e)[1] - e.note[1] }).prior(2),
		effort(1).prior(0.5),
		constant(),
		standing().prior(2),
		integral("Contact forces", contact).prior(0.5),
		integral("Height", func(e *Env) float64 { return 10 * (e.d.QPos[2] - 0.75) }).prior(0.5), // above that of the start
		measured("Turning left", func(e *Env, _ idrl.Action) float64 { return turned(e.from[3:7], e.d.QPos[3:7]) }).prior(2),
		integral("Upright", func(e *Env) float64 { return 2 * antUpright(e) }),
	)
	t.name = nameAnt
	t.appearance = antAppearance()
}

// antUpright is the z component of the trunk's vertical axis: 1 upright, −1 on its back.
func antUpright(e *Env) float64 {
	q := e.d.QPos[3:7]
	return 1 - 2*(q[1]*q[1]+q[2]*q[2])
}

func antFallen(e *Env) bool { return antUpright(e) < onItsBack }

// contact returns the sum of the squares of all external torques and forces on
// bodies, each clipped to [−1, 1], as ContactForces left them.
func contact(e *Env) float64 {
	sum := 0.0
	for _, v := range e.d.CFrcExt {
		v = math.Max(-1, math.Min(1, v))
		sum += v * v
	}
	return sum
}

// turned returns the part about the vertical axis, in radians, of the rotation
// from the unit quaternion p to q.
func turned(p, q []float64) float64 {
	w := q[0]*p[0] + q[1]*p[1] + q[2]*p[2] + q[3]*p[3]
	z := -q[0]*p[3] - q[1]*p[2] + q[2]*p[1] + q[3]*p[0]
	if w < 0 { // the same rotation the short way round
		w, z = -w, -z
	}
	return 2 * math.Atan2(z, w)
}
