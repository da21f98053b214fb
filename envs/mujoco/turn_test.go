//go:build mujoco

package mujoco

import (
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
)

// TestTurn plays torques from a state, and turned torques from the turned state:
// the two ants stay turned images of one another.
func TestTurn(t *testing.T) {
	stream := rng.New(1, "turn", 0)
	plain := must.Get(NewAntDirection())(t)
	turned := must.Get(NewAntDirection())(t)
	plain.Reset(stream)
	turned.Reset(stream)
	pose(turned, plain)
	must.Do(t, turned.d.Forward())
	torques := make([]float64, 8)
	for step := range 20 {
		for i := range torques {
			torques[i] = 60*stream.Float64() - 30
		}
		plain.Step(torques)
		other := append([]float64(nil), torques...)
		turnTorques(other)
		turned.Step(other)
		a, b := make([]float64, antObs), make([]float64, antObs)
		antGaitObs(plain, a)
		antGaitObs(turned, b)
		turnBack(b)
		for i := range a {
			if math.Abs(a[i]-b[i]) > 1e-6 {
				t.Fatalf("step %d: number %d of the turned observation is %v, want %v", step, i, b[i], a[i])
			}
		}
	}
	dx, dy := plain.d.QPos[0], plain.d.QPos[1]
	if tx, ty := turned.d.QPos[0], turned.d.QPos[1]; math.Hypot(tx+dy, ty-dx) > 1e-6 {
		t.Errorf("the turned ant is at (%v, %v), want (%v, %v)", tx, ty, -dy, dx)
	}
}

// pose puts e into the state of from, turned by a quarter from +x to +y: three
// quarters back.
func pose(e, from *Env) {
	obs := make([]float64, antObs)
	antGaitObs(from, obs)
	for range 3 {
		turnBack(obs)
	}
	x, y := from.d.QPos[0], from.d.QPos[1]
	copy(e.d.QPos[2:], obs[:13])
	copy(e.d.QVel, obs[13:])
	e.d.QPos[0], e.d.QPos[1] = -y, x
}
