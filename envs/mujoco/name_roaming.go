package mujoco

import (
	"math"

	"tiebreak/envs/corridor"
	"tiebreak/internal/base/drawing"
)

// heading says where a way leads, from the axes of the world: forward is along x.
func heading(x, y float64) string {
	switch {
	case math.Abs(x) >= math.Abs(y) && x > 0:
		return "forward"
	case math.Abs(x) >= math.Abs(y):
		return "backward"
	case y > 0:
		return "to the left"
	}
	return "to the right"
}

// overturned names what happens to an ant that turns over; ok is false if it stays on its legs.
func (c *course) overturned() (h drawing.Happening, ok bool) {
	share, first := c.lies()
	x, y := c.way()
	switch {
	case first < 0:
		return h, false
	case first == 0 && share >= mostly && math.Hypot(x, y) > 1.5*c.sec:
		return useless("tumbles along"), true
	case first == 0 && share >= mostly:
		return useless("lies on its back"), true
	case !c.fallen[len(c.fallen)-1]:
		return useful("turns over and gets on its legs"), true
	}
	return useless("falls on its back"), true
}

// yaw returns by how much an ant turns to the left, radians.
func (c *course) yaw() (sum float64) {
	for k, q := range c.qpos[1:] {
		sum += turned(c.qpos[k][3:7], q[3:7])
	}
	return sum
}

// nameAnt names what the ant does. A turn by some sixty degrees or more is seen before a jump, both
// are before the way, and the way is before a smaller turn.
func nameAnt(c *course) drawing.Happening {
	if h, ok := c.overturned(); ok {
		return h
	}
	high := 0.0
	for _, q := range c.qpos {
		high = max(high, q[2])
	}
	x, y := c.way()
	v := math.Hypot(x, y) / c.sec
	switch {
	case c.still():
		return useful(pick(high > 0.9, "is in the air", "stands on its legs"))
	case math.Abs(c.yaw()) > 1.1:
		return useful("turns round and round")
	case high > 1:
		return useful("jumps")
	case v < 0.4 && math.Abs(c.yaw()) > 0.8:
		return useful("turns on the spot")
	case v < 0.2 && c.stir(7) < 0.3:
		return useless("stays still")
	case v < 0.5: // strips do not tell it from a robot that moves its legs on the spot
		return useful("creeps about")
	}
	return useful("walks " + heading(x, y))
}

// nameSwimmer names what the swimmer does.
func nameSwimmer(c *course) drawing.Happening {
	if c.still() {
		return useful(bend(c.qpos[0][3], c.qpos[0][4]))
	}
	x, y := c.way()
	q, p := c.qpos[len(c.qpos)-1], c.qpos[0]
	along := func(q []float64) float64 { return q[2] + (2*q[3]+q[4])/3 } // mean heading of the links
	switch turn := along(q) - along(p); {
	case math.Hypot(x, y) >= 0.3:
		return useful("swims " + heading(x, y))
	case math.Abs(turn) > 0.8:
		return useful("turns on the spot")
	case c.stir(3) < 0.2:
		return useless("stays")
	}
	return useful("winds on the spot")
}

// bend names a still of a swimmer with the angles of its joints.
func bend(a, b float64) string {
	switch {
	case math.Abs(a)+math.Abs(b) < 1:
		return "is stretched"
	case a*b < 0:
		return "is bent like an S"
	}
	return "is bent like a U"
}

// A corridorNamer names what a robot does in a corridor, which is where it gets with regard to the
// goal. walks is the verb.
func corridorNamer(m corridor.Maze, walks string) func(*course) drawing.Happening {
	return func(c *course) drawing.Happening {
		if h, ok := c.overturned(); ok {
			return h
		}
		first, last := c.places[0], c.places[len(c.places)-1]
		far := func(p [2]float64) float64 { return math.Abs(p[0] - m.CellSize*corridor.Goal) }
		inside := func(p [2]float64) bool { return far(p) <= m.CellSize/2 }
		x, y := c.way()
		closer := far(first) - far(last)
		switch {
		case c.still():
			return corridorStill(m, last, inside(last))
		case inside(first) && inside(last):
			return useful("stays in the goal")
		case inside(last):
			return useful("reaches the goal")
		case inside(first):
			return useful("leaves the goal")
		case math.Hypot(x, y) < c.length/2:
			return useless(c.staying(m, math.Hypot(x, y)))
		case math.Abs(y) > math.Abs(x):
			return useful(walks + " across the corridor")
		case closer < 0:
			return useful(walks + " away from the goal")
		case closer < c.length:
			return useful("creeps towards the goal")
		}
		return useful(walks + " towards the goal")
	}
}

// staying names what a robot does that gets less than half its length, as Narrate says.
func (c *course) staying(m corridor.Maze, way float64) string {
	switch {
	case atWall(m, c.qpos):
		return "stays at the wall"
	case c.stir(3) < 0.1:
		return "stays still"
	case way < 0.3*c.length:
		return "stays in its place"
	}
	return "hardly gets anywhere"
}

// corridorStill names a still.
func corridorStill(m corridor.Maze, at [2]float64, goal bool) drawing.Happening {
	switch {
	case goal:
		return useful("is in the goal")
	case at[0] < m.CellSize*corridor.Goal:
		return useful("is before the goal")
	}
	return useful("is behind the goal")
}

// atWall reports whether the root of a robot is in most states where it cannot go on for one of the
// two walls that are drawn: that at the far side and that at the end.
func atWall(m corridor.Maze, qpos [][]float64) bool {
	n := 0
	for _, q := range qpos {
		const near = 0.75
		r := near * m.CellSize / 2
		if q[1] > r || q[0] > m.CellSize*(corridor.Cells-1)+r {
			n++
		}
	}
	return 2*n > len(qpos)
}
