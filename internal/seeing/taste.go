// Package seeing simulates people who compare clips by what they see: by the drawn states
// alone, and not by features or rewards. They measure whether a robot can be taught.
package seeing

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"tiebreak/internal/clip"
	"tiebreak/internal/idrl"
)

// A Taste says what a person likes to see of a robot.
type Taste struct {
	Env, Name string
	About     string  // in the words of a person
	Equal     float64 // clips whose worths differ by less are equal to the person; > 0

	worth func(m motion) float64
}

// Worth returns how much the person likes a clip, by its drawn states. Speeds count in m/s of the
// robot's time. It returns an error of kind Invalid if the clip is of another robot or a still.
func (t Taste) Worth(c *clip.Clip) (float64, error) {
	m, err := watch(c)
	switch {
	case err != nil:
		return 0, err
	case m.env != t.Env:
		return 0, idrl.Errorf(idrl.Invalid, "a taste about %s is asked about a clip of %s", t.Env, m.env)
	}
	return t.worth(m), nil
}

// Find returns the taste of a name about a robot; the first one if the name is empty. It
// returns an error of kind Invalid if there is none.
func Find(env, name string) (Taste, error) {
	var names []string
	for _, t := range Tastes() {
		if t.Env != env {
			continue
		}
		if t.Name == cmp.Or(name, t.Name) {
			return t, nil
		}
		names = append(names, t.Name)
	}
	if names == nil {
		return Taste{}, idrl.Errorf(idrl.Invalid, "nobody has a taste about %q: choose a robot among %s", env, strings.Join(Robots(), ", "))
	}
	return Taste{}, idrl.Errorf(idrl.Invalid, "nobody has the taste %q about %s: choose one of %s", name, env, strings.Join(names, ", "))
}

// Robots returns the ids of the environments that there are tastes about.
func Robots() (out []string) {
	for _, t := range Tastes() {
		if !slices.Contains(out, t.Env) {
			out = append(out, t.Env)
		}
	}
	return out
}

// Tastes returns all tastes.
func Tastes() []Taste {
	return []Taste{
		{"half-cheetah", "forward", "run forward, on your feet", 0.1, func(m motion) float64 { return m.speed + m.upright }},
		{"half-cheetah", "backward", "run backward, on your feet", 0.1, func(m motion) float64 { return -m.speed + m.upright }},
		{"half-cheetah", "still", "stand still, on your feet", 0.1, func(m motion) float64 { return 2*m.upright - m.motion }},
		{"half-cheetah", "backflip", "turn over backwards, again and again", 0.05, func(m motion) float64 { return m.turning }},
		{"hopper", "forward", "hop forward without falling", 0.1, func(m motion) float64 { return m.speed + 2*m.upright }},
		{"hopper", "backflip", "turn over backwards, again and again", 0.05, func(m motion) float64 { return m.turning }},
		{"walker2d", "forward", "walk forward without falling", 0.1, func(m motion) float64 { return m.speed + 2*m.upright }},
		{"ant", "forward", "walk to the right of the picture, on your feet", 0.1, func(m motion) float64 { return 2*m.speed + m.upright }},
		{"ant", "backward", "walk to the left of the picture, on your feet", 0.1, func(m motion) float64 { return -2*m.speed + m.upright }},
		{"ant", "still", "stand still, on your feet", 0.1, func(m motion) float64 { return 2*m.upright - m.motion }},
		{"swimmer", "forward", "swim to the right of the picture", 0.02, func(m motion) float64 { return m.speed }},
		{"reacher", "reach", "bring the tip to the ball and hold it there", 0.05, func(m motion) float64 { return -m.away }},
		{"swimmer-corridor", "goal", "swim to the goal", 0.1, func(m motion) float64 { return m.nearer }},
	}
}

// A motion is what a person sees in a clip.
type motion struct {
	env     string
	speed   float64 // of the middle of the body, along x, m/s
	motion  float64 // mean speed of the points of the body, m/s
	upright float64 // share of the states
	turning float64 // backwards, in turns per second
	away    float64 // mean distance of the tip to the ball in the later half, in arm lengths
	nearer  float64 // to the goal, m/s
}

// upTo is the tilt up to which a robot is upright to a person: an eighth of a turn.
const upTo = math.Pi / 4

// watch measures a clip.
func watch(c *clip.Clip) (m motion, err error) {
	h := &c.Header
	m.env = h.Env
	b, ok := bodies[h.Env]
	if !ok || h.Steps == 0 {
		return m, idrl.Errorf(idrl.Invalid, "nobody has a taste about such clips of %q", h.Env)
	}
	need := slices.Max(append([]int{b.tip, b.ball}, b.points...))
	if h.Points <= need || h.Distance == 0 {
		return m, idrl.Errorf(idrl.Invalid, "a clip of %s is drawn in another way than the one that is known", h.Env)
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
