package mujoco

import (
	"math"

	"tiebreak/internal/base/drawing"
)

// Lengths of the arm of the reacher, metres.
const (
	upperArm = 0.1
	lowerArm = 0.11
)

// nameReacher names what the arm does: where it stops, or how it goes round.
func nameReacher(c *course) drawing.Happening {
	tip := func(q []float64) [3]float64 {
		return [3]float64{upperArm*math.Cos(q[0]) + lowerArm*math.Cos(q[0]+q[1]), upperArm*math.Sin(q[0]) + lowerArm*math.Sin(q[0]+q[1])}
	}
	n := len(c.qpos)
	far := func(q []float64) float64 { at := tip(q); return apart(at[:], []float64{q[2], q[3], 0}) }
	nearest := math.Inf(1)
	for _, q := range c.qpos {
		nearest = min(nearest, far(q))
	}
	const touch, beside = 0.025, 0.06
	end := far(c.qpos[n-1])
	if c.still() {
		return useful(pick(end < touch, "is at the target", pick(end < beside, "is near the target", "is away from the target")))
	}
	settled := 0.0 // way of the tip in the last fifth
	for k := n - n/5; k < n; k++ {
		a, b := tip(c.qpos[k]), tip(c.qpos[k-1])
		settled += apart(a[:], b[:])
	}
	rests := settled < 0.03
	switch turns := math.Abs(c.moved(0)) / (2 * math.Pi); {
	case turns > 5:
		return useful("spins fast")
	case turns > 1.2:
		return useful("goes round and round")
	case rests && end < touch:
		return useful("stops at the target")
	case c.bob(0)+c.bob(1) < 0.4:
		return useless("hardly moves")
	case rests && end < beside:
		return useful("stops near the target")
	case rests:
		return useful("stops away from the target")
	case nearest < touch:
		return useful("swings past the target")
	}
	return useful("swings beside the target")
}

// namePendulum names what a cart with poles does, whose angles are the positions from the second on.
func namePendulum(c *course) drawing.Happening {
	share, first := c.lies()
	low, high := math.Inf(1), math.Inf(-1)
	for _, q := range c.qpos {
		low, high = min(low, q[0]), max(high, q[0])
	}
	switch {
	case c.still() && first == 0:
		return useless("the pole lies")
	case c.still():
		return useful("the pole stands")
	case first >= 0 && math.Abs(c.moved(1)) > 2*math.Pi:
		return useless("the pole goes round")
	case first == 0 && share >= mostly:
		return useless("the pole hangs")
	case first >= 0:
		return useless(pick(c.qpos[first][1] > 0, "the pole falls to the right", "the pole falls to the left"))
	case high-low < 0.25:
		return useful("balances in its place")
	case math.Abs(c.moved(0)) > 0.8*(high-low):
		return useful(pick(c.moved(0) > 0, "balances, goes to the right", "balances, goes to the left"))
	case c.bob(0) < 0.9:
		return useful("balances, to and fro a little")
	}
	return useful("balances, to and fro a lot")
}
