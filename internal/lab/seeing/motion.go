package seeing

import (
	"math"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// A motion is what a person sees of a robot in a clip.
type motion struct {
	speed   float64 // of the middle of the body, along x, m/s
	motion  float64 // mean speed of the points of the body, m/s
	upright float64 // share of the states
	turning float64 // backwards, in turns per second
	away    float64 // mean distance of the tip to the ball in the later half, in arm lengths
	nearer  float64 // to the goal, m/s
	lifted  float64 // share of the states in which it is upright and the front foot is up
}

// upTo is the tilt up to which a robot is upright to a person: an eighth of a turn.
const upTo = math.Pi / 4

// liftHigh is the height of a foot above the ground from which it is up to a person, m: a foot on the ground is at 0.05.
const liftHigh = 0.2

// robot returns a worth by the motion of a robot.
func robot(worth func(m motion) float64) func(*clip.Clip) (float64, error) {
	return func(c *clip.Clip) (float64, error) {
		m, err := watch(c)
		if err != nil {
			return 0, err
		}
		return worth(m), nil
	}
}

// watch measures a clip of a robot. It returns an error of kind Invalid for stills, and for
// drawings that are not known.
func watch(c *clip.Clip) (m motion, err error) {
	h := &c.Header
	b, ok := bodies[h.Env]
	if !ok || h.Steps == 0 {
		return m, idrl.Errorf(idrl.Invalid, "there is no taste for such clips of %q", h.Env)
	}
	need := slices.Max(slices.Concat([]int{b.tip, b.ball}, b.points, b.foot))
	if h.Points <= need || h.Distance == 0 {
		return m, errDrawing(c)
	}
	seconds := float64(h.Frames-1) * h.FrameSec
	var turned, before, goal float64
	if b.goal {
		goal = middleLabel(h)
	}
	for i, row := range c.Frames {
		f := frame(row)
		tilt := b.tilt(f)
		if math.Abs(tilt) <= upTo && f.z(b.points...) >= b.height {
			m.upright += 1 / float64(len(c.Frames))
			if b.foot != nil && f.lowest(b.foot) >= liftHigh {
				m.lifted += 1 / float64(len(c.Frames))
			}
		}
		if i > 0 {
			turned += math.Remainder(tilt-before, 2*math.Pi)
			m.motion += f.moved(frame(c.Frames[i-1]), b.points) / seconds
		}
		before = tilt
		if b.ball > 0 && 2*i >= len(c.Frames) {
			m.away += f.apart(b.tip, b.ball) / b.arm / float64(len(c.Frames)/2)
		}
	}
	first, last := frame(c.Frames[0]), frame(c.Frames[len(c.Frames)-1])
	m.speed = (last.x(b.points...) - first.x(b.points...)) / seconds
	m.turning = turned / (2 * math.Pi) / seconds
	m.nearer = (math.Abs(first.x(b.points...)-goal) - math.Abs(last.x(b.points...)-goal)) / seconds
	return m, nil
}
