package mujoco

import "math"

// The ant looks the same after a quarter turn about its vertical axis, so a gait
// along x is a gait along y in the turned world. Legs are numbered from the one
// at (+,+), counterclockwise; each has a hip, whose angle a turn leaves as it is,
// and an ankle, whose axis may come to point the other way.

// Signed is a number of a vector that is that of another, or its negative.
type Signed struct {
	From int
	Sign float64
}

// QuarterTurn says how a policy of the ant that goes along x is made one that goes along y.
// Action i of the turned policy is Sign times action From of the policy, for which
// observation k is Sign times observation From. Actions are torques; observations are the
// ant's without contact forces.
func QuarterTurn() (actions, observations []Signed) {
	torques, obs := make([]float64, 8), make([]float64, antObs)
	for _, x := range [][]float64{torques, obs} {
		for i := range x {
			x[i] = float64(i + 1)
		}
	}
	turnTorques(torques)
	turnBack(obs)
	signed := func(x []float64) (out []Signed) {
		for _, v := range x {
			out = append(out, Signed{int(math.Abs(v)) - 1, math.Copysign(1, v)})
		}
		return out
	}
	return signed(torques), signed(obs)
}

// ankleSign is −1 where the axis of the ankle of leg i, turned forward by a
// quarter, is opposite to that of the ankle of the leg after it.
var ankleSign = [4]float64{-1, 1, -1, 1}

// turnBack turns an observation of a gait by a quarter from +y to +x.
func turnBack(obs []float64) {
	quat, joints, vel, spin, rates := obs[1:5], obs[5:13], obs[13:16], obs[16:19], obs[19:27]
	for _, v := range [][]float64{quat[1:], vel, spin} {
		v[0], v[1] = v[1], -v[0]
	}
	legsBack(joints)
	legsBack(rates)
}

// legsBack hands the joints of each leg to the leg before it.
func legsBack(x []float64) {
	old := [8]float64(x)
	for i := range 4 {
		next := (i + 1) % 4
		x[2*i], x[2*i+1] = old[2*next], ankleSign[i]*old[2*next+1]
	}
}

// turnTorques turns torques by a quarter from +x to +y. Their order is that of
// the actuators, which begins with the last leg.
func turnTorques(x []float64) {
	old := [8]float64(x)
	for i := range 4 {
		from, to := (i+1)%4, (i+2)%4 // places of leg i and of the next among the actuators
		x[2*to], x[2*to+1] = old[2*from], ankleSign[i]*old[2*from+1]
	}
}
