package mujoco

import (
	"math"

	"tiebreak/internal/base/drawing"
)

// A person names what a robot does by how it falls, then by how it holds itself, then by how
// far it gets. The limits were read off strips of clips of the libraries.
const (
	mostly   = 0.8 // share of the states of what "lies", which began so
	tumble   = 5.2 // rotation of a whole turn in a clip, radians: the rest of it is hidden by how it lands
	tips     = 0.7 // pitch from which a fall has a direction, radians
	flat     = 1.0 // mean pitch of what lies flat after it went down upright, radians
	longFall = 0.1 // share of fallen states from which it is a fall and no stumble
)

// fall names a fall, or what happens to a robot in the plane that lies; ok is false if it stands.
func (c *course) fall() (h drawing.Happening, ok bool) {
	share, first := c.lies()
	last := len(c.fallen) - 1
	if first < 0 || share < longFall && !c.fallen[last] {
		return h, false
	}
	pitch := c.falls(first)
	switch {
	case first == 0 && share >= mostly:
		return useless("lies"), true
	case !c.fallen[last]:
		return useless("falls and gets up again"), true
	case pitch == 0:
		return useless("collapses"), true
	case pitch > 0:
		return useless("falls forward"), true
	}
	return useless("falls backward"), true
}

// falls returns the pitch that says in which direction a robot in the plane falls, 0 if it goes down upright:
// that of the first state in which it is fallen, or else its mean while it lies flat. Turning over on the ground
// afterwards is no other fall.
func (c *course) falls(first int) float64 {
	turns := c.turns()
	if pitch := c.qpos[first][2] - turns; math.Abs(pitch) >= tips {
		return pitch
	}
	sum, n := 0.0, 0.0
	for i, q := range c.qpos {
		if c.fallen[i] {
			sum += q[2] - turns
			n++
		}
	}
	if math.Abs(sum/n) < flat {
		return 0
	}
	return sum / n
}

// turns returns the whole turns in the pitch of the first state, radians: a robot that stands after a somersault is upright.
func (c *course) turns() float64 { return math.Round(c.qpos[0][2]/(2*math.Pi)) * 2 * math.Pi }

// Limits of what Hopper does, whose trunk is 1.25 m high when it stands.
const (
	hopperLow   = 0.8  // height below which a person sees a fall, metres
	hopperUp    = 1.0  // height from which what has fallen is up again, metres
	hopperClimb = 0.18 // metres a second that the trunk rises in the least of hops
	hopperTips  = 0.25 // change of the pitch from which it tips over rather than stands, radians
)

// nameHopper names what Hopper does. Gym's test of health takes a trunk that leans by a little for
// fallen; a person sees a fall when it is low or far from upright.
func nameHopper(c *course) drawing.Happening {
	low := hopperLow
	for i, q := range c.qpos {
		c.fallen[i] = q[1] < low || math.Abs(math.Remainder(q[2], 2*math.Pi)) > tips
		low = hopperLow
		if c.fallen[i] {
			low = hopperUp
		}
	}
	if h, ok := c.fall(); ok {
		return h
	}
	if c.still() {
		return useful(stance(c))
	}
	if c.climb(1) < hopperClimb {
		return nameHopperOnItsFoot(c)
	}
	return nameHops(c)
}

// nameHopperOnItsFoot names what Hopper does without a hop.
func nameHopperOnItsFoot(c *course) drawing.Happening {
	switch v, pitch := c.moved(0)/c.sec, c.moved(2); {
	case pitch > hopperTips:
		return useless("tips forward")
	case pitch < -hopperTips:
		return useless("tips backward")
	case math.Abs(v) < 0.3:
		return useless("stands still")
	case v < 0:
		return useful("creeps backward")
	}
	return useful("creeps forward")
}

func nameHops(c *course) drawing.Happening {
	switch v := c.moved(0) / c.sec; {
	case math.Abs(v) < 0.3:
		return useful("hops on the spot")
	case v < 0:
		return useful("hops backward")
	case c.mean(1) >= 1.33:
		return useful("leaps forward high")
	case v < 0.75:
		return useful("hops forward slowly")
	case v < 1.9:
		return useful("hops forward")
	}
	return useful("hops forward fast")
}

// nameWalker names what Walker2d does.
func nameWalker(c *course) drawing.Happening {
	if h, ok := c.fall(); ok {
		return h
	}
	if c.still() {
		return useful(stance(c))
	}
	v := c.moved(0) / c.sec
	switch {
	case math.Abs(v) < 0.2 && c.stir(3) < 0.5:
		return useless("stands still")
	case math.Abs(v) < 0.2:
		return useful("moves its legs on the spot")
	case v < 0:
		return useful("walks backward")
	case v < 0.8:
		return useful("walks slowly")
	case c.mean(2)-c.turns() < -0.15:
		return useful("walks leaning back")
	case v < 1.7:
		return useful("walks")
	}
	return useful("runs")
}

// stance names a still of a robot that stands.
func stance(c *course) string {
	switch pitch := c.qpos[0][2] - c.turns(); {
	case pitch > 0.15:
		return "leans forward"
	case pitch < -0.15:
		return "leans back"
	}
	return "stands upright"
}

// nameCheetah names what HalfCheetah does. It is fallen where it is on its back.
func nameCheetah(c *course) drawing.Happening {
	share, first := c.lies()
	pitch := c.mean(2) - c.turns()
	switch end := c.fallen[len(c.fallen)-1]; {
	case first == 0 && share >= mostly:
		return useless("lies on its back")
	case !end && math.Abs(c.moved(2)) >= tumble:
		return useful("turns a somersault")
	case end && c.moved(2) > 0:
		return useless("falls over its head")
	case end:
		return useless("falls on its back")
	case pitch > 0.4:
		return useful(pick(c.still(), "stands on its head", "pushes along on its head"))
	case pitch < -0.18:
		return useful("rears up")
	case c.still():
		return useful("stands on its legs")
	}
	return cheetahRuns(c)
}

func cheetahRuns(c *course) drawing.Happening {
	v := c.moved(0) / c.sec
	switch {
	case math.Abs(v) < 0.3 && c.stir(3) < 1:
		return useless("stands still")
	case math.Abs(v) < 0.3:
		return useful("moves its legs on the spot")
	case v > 2.5:
		return useful("runs forward fast")
	case v > 0:
		return useful("trots forward")
	case v > -2:
		return useful("goes backward")
	}
	return useful("runs backward fast")
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}
