package mujoco

import (
	"math"
	"math/rand/v2"

	"tiebreak/envs/mujoco/engine"
)

// The robots of this file move in the plane of x and z. Their first positions are
// x and z in metres, and the pitch in radians, which is positive when they lean
// forward.

func halfCheetah(t *task, m *engine.Model) {
	t.reset = func(e *Env, rng *rand.Rand) {
		uniform(e.d.QPos, 0.1, rng)
		normal(e.d.QVel, 0.1, rng)
	}
	t.observe = func(e *Env, dst []float64) { copy(dst[copy(dst, e.d.QPos[1:]):], e.d.QVel) }
	t.features(
		moved("Distance forward", 0, 1).prior(2),
		effort(1).prior(0.5),
		jerkiness(1).prior(0.2),
		integral("Height", func(e *Env) float64 { return 10 * e.d.QPos[1] }), // above that of the start
		integral("Upright", func(e *Env) float64 { return 2 * math.Cos(e.d.QPos[2]) }),
		integral("Nose up", func(e *Env) float64 { return -2 * math.Sin(e.d.QPos[2]) }).prior(2),
		moved("Rotation backwards", 2, -1),
	)
	t.turned = pitch
	t.fallen = func(e *Env) bool { return math.Cos(e.d.QPos[2]) < onItsBack }
	t.name = nameCheetah
	t.appearance = cheetahAppearance()
}

// legged holds the parts that Walker2d and Hopper share.
func legged(t *task, m *engine.Model) {
	t.reset = func(e *Env, rng *rand.Rand) {
		uniform(e.d.QPos, 0.005, rng)
		uniform(e.d.QVel, 0.005, rng)
	}
	t.observe = func(e *Env, dst []float64) {
		n := copy(dst, e.d.QPos[1:])
		clipped(dst[:n], e.d.QVel, 10)
	}
}

// pitch is the angle by which the trunk leans forward, counted on through whole turns.
func pitch(e *Env) float64 { return e.d.QPos[2] }

// upright reports whether the trunk leans by less than an angle, after any number of turns.
func upright(e *Env, most float64) bool { return math.Abs(math.Remainder(pitch(e), 2*math.Pi)) < most }

// rise is the height of the trunk above that of the start, in decimetres.
func rise(e *Env) float64 { return 10 * (e.d.QPos[1] - 1.25) }

func lean(e *Env) float64 { return 4 * math.Sin(e.d.QPos[2]) }

func walker2d(t *task, m *engine.Model) {
	legged(t, m)
	t.name = nameWalker
	t.appearance = walkerAppearance()
	t.unstable = func(e *Env) bool {
		z, pitch := e.d.QPos[1], e.d.QPos[2]
		return !(z > 0.8 && z < 2 && pitch > -1 && pitch < 1)
	}
	t.turned = pitch
	t.fallen = func(e *Env) bool { z := e.d.QPos[1]; return !(z > 0.8 && z < 2 && upright(e, 1)) } // Gym takes a robot that stands after a somersault for a fallen one
	t.features(
		moved("Distance forward", 0, 1).prior(2),
		effort(1),
		constant(),
		standing().prior(2),
		jerkiness(0.5).prior(2),
		integral("Height", rise),
		integral("Lean forward", lean),
		integral("Legs apart", func(e *Env) float64 { return 2 * math.Abs(e.d.QPos[3]-e.d.QPos[6]) }).prior(2), // angle between the thighs
		moved("Rotation backwards", 2, -1),
	)
}

func hopper(t *task, m *engine.Model) {
	legged(t, m)
	t.name = nameHopper
	t.appearance = hopperAppearance()
	t.unstable = func(e *Env) bool {
		ok := e.d.QPos[1] > 0.7 && math.Abs(e.d.QPos[2]) < 0.2
		return !ok || !bounded(e.d.QPos[2:], 100) || !bounded(e.d.QVel, 100)
	}
	t.turned = pitch
	t.fallen = func(e *Env) bool {
		return !(e.d.QPos[1] > 0.7 && upright(e, 0.2)) || !bounded(e.d.QPos[3:], 100) || !bounded(e.d.QVel, 100)
	}
	t.features(
		moved("Distance forward", 0, 1).prior(2),
		effort(1).prior(2),
		constant(),
		standing().prior(2),
		jerkiness(1).prior(2),
		integral("Height", rise),
		integral("Upright", func(e *Env) float64 { return 2 * math.Cos(e.d.QPos[2]) }).prior(2),
		integral("Lean forward", lean),
		moved("Rotation backwards", 2, -1),
	)
}

// bounded reports whether all numbers of x are in (−bound, bound).
func bounded(x []float64, bound float64) bool {
	for _, v := range x {
		if !(math.Abs(v) < bound) {
			return false
		}
	}
	return true
}
