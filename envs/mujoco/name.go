package mujoco

import (
	"math"

	"tiebreak/internal/base/drawing"
)

// A course has the poses of a robot in the states of a clip.
type course struct {
	sec    float64      // simulated
	qpos   [][]float64  // positions of the engine in each state
	places [][2]float64 // x and y of what the camera follows in each state, metres
	fallen []bool       // in each state
	length float64      // of the robot, metres
}

// Name returns a name for people of what the robot does (task.name).
func (e *Env) Name(states [][]float64) drawing.Happening {
	if e.task.name == nil {
		return drawing.Happening{}
	}
	return e.task.name(e.course(states))
}

// ownNamer names what a user's model does. Distances are relative to the width of the view, metres.
func ownNamer(width float64) func(*course) drawing.Happening {
	return func(c *course) drawing.Happening {
		share, first := c.lies()
		x, y := c.way()
		switch {
		case first == 0 && share >= mostly:
			return useless("lies")
		case c.fallen[len(c.fallen)-1]:
			return useless("falls")
		case c.still():
			return useful("stands")
		case math.Hypot(x, y) >= width/20:
			return useful("goes " + heading(x, y))
		case c.stir(0) < 0.1:
			return useless("stays still")
		}
		return useful("moves in its place")
	}
}

// course returns the course of states. It leaves the environment in the last state.
func (e *Env) course(states [][]float64) *course {
	c := &course{sec: e.spec.StepSeconds * float64(len(states)-1), length: e.length}
	for _, s := range states {
		c.places = append(c.places, e.centre(s))
		c.qpos = append(c.qpos, append([]float64(nil), e.d.QPos...))
		c.fallen = append(c.fallen, e.Fallen())
	}
	return c
}

func (c *course) still() bool { return len(c.qpos) == 1 }

// moved returns by how much position i of the engine changes from the first state to the last.
func (c *course) moved(i int) float64 { return c.qpos[len(c.qpos)-1][i] - c.qpos[0][i] }

// mean returns the mean of position i of the engine.
func (c *course) mean(i int) (sum float64) {
	for _, q := range c.qpos {
		sum += q[i] / float64(len(c.qpos))
	}
	return sum
}

// bob returns how far position i goes up and down, in the mean of both ways, per second.
func (c *course) bob(i int) (sum float64) {
	for k, q := range c.qpos[1:] {
		sum += math.Abs(q[i]-c.qpos[k][i]) / c.sec
	}
	return sum
}

// climb returns how far position i goes up, metres per second; the ways down do not count.
func (c *course) climb(i int) (sum float64) {
	for k, q := range c.qpos[1:] {
		sum += max(0, q[i]-c.qpos[k][i]) / c.sec
	}
	return sum
}

// stir returns the mean speed of the joints from position first on, rad/s.
func (c *course) stir(first int) (sum float64) {
	n := len(c.qpos[0]) - first
	for i := first; i < first+n; i++ {
		sum += c.bob(i) / float64(n)
	}
	return sum
}

// way returns how far the robot gets, metres along x and y.
func (c *course) way() (x, y float64) {
	from, to := c.places[0], c.places[len(c.places)-1]
	return to[0] - from[0], to[1] - from[1]
}

// lies returns the share of the states in which the robot is fallen, and the first of them, −1 if there is none.
func (c *course) lies() (share float64, first int) {
	first = -1
	for i, f := range c.fallen {
		if f {
			share += 1 / float64(len(c.fallen))
			if first < 0 {
				first = i
			}
		}
	}
	return share, first
}

// useless returns the name of a behaviour that serves hardly any purpose, useful that of another.
func useless(name string) drawing.Happening {
	return drawing.Happening{Name: name, Useless: true}
}

func useful(name string) drawing.Happening { return drawing.Happening{Name: name} }
