package seeing

import (
	"math"
	"strconv"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/look/clip"
)

// A body says which of the moving points of a drawing are what.
type body struct {
	points []int   // of which the middle is taken
	height float64 // of that above the ground, m: below it the robot is not upright

	// How the trunk is tilted: an axis from back to front that is level, or from foot to
	// head, in the plane of x and z; or two axes that span the trunk, from either side of
	// which the tilt is that of their normal.
	level, plumb [2]int
	spans        [4]int

	foot []int // points of the front foot

	tip, ball int     // of an arm
	arm       float64 // length of the arm, m
	goal      bool    // the middle of the numbers on the ground is the goal
}

// bodies are by environments; the points are those of envs/mujoco, in order.
var bodies = map[string]body{
	"half-cheetah":     {points: []int{1, 2}, level: [2]int{2, 1}, foot: []int{15, 16}},
	"hopper":           {points: []int{1, 2}, plumb: [2]int{1, 2}, height: 0.8},
	"walker2d":         {points: []int{1, 2}, plumb: [2]int{1, 2}, height: 0.8},
	"ant":              {points: []int{1, 2, 5, 8, 11}, spans: [4]int{2, 8, 5, 11}},
	"swimmer":          {points: []int{1, 2, 3, 4}},
	"swimmer-corridor": {points: []int{1, 2, 3, 4}, goal: true},
	"ant-corridor":     {points: []int{1, 2, 5, 8, 11}, spans: [4]int{2, 8, 5, 11}, goal: true},
	"reacher":          {points: []int{4}, tip: 4, ball: 5, arm: 0.21},

	"inverted-pendulum":        {points: []int{3}, plumb: [2]int{4, 3}},
	"inverted-double-pendulum": {points: []int{5}, plumb: [2]int{4, 5}, height: 0.9},
}

// A frame is the points of a drawn state, x y z each.
type frame []float64

func (f frame) x(points ...int) float64 { return f.mean(points, 0) }
func (f frame) z(points ...int) float64 { return f.mean(points, 2) }

func (f frame) mean(points []int, k int) (sum float64) {
	for _, p := range points {
		sum += f[3*p+k] / float64(len(points))
	}
	return sum
}

// lowest returns the smallest height of the points.
func (f frame) lowest(points []int) float64 {
	least := math.Inf(1)
	for _, p := range points {
		least = min(least, f[3*p+2])
	}
	return least
}

// moved returns how far the points are from where they were, in the mean.
func (f frame) moved(before frame, points []int) (sum float64) {
	for _, p := range points {
		x, y, z := f[3*p]-before[3*p], f[3*p+1]-before[3*p+1], f[3*p+2]-before[3*p+2]
		sum += math.Sqrt(x*x+y*y+z*z) / float64(len(points))
	}
	return sum
}

// apart returns the distance of two points over the ground.
func (f frame) apart(p, q int) float64 {
	return math.Hypot(f[3*p]-f[3*q], f[3*p+1]-f[3*q+1])
}

// tilt returns by how much the trunk is tilted, radians: in the plane of x and z positive
// if its front is up or its head is behind, so that it grows in a turn backwards; else
// without a sign.
func (b body) tilt(f frame) float64 {
	along := func(axis [2]int, k int) float64 { return f[3*axis[1]+k] - f[3*axis[0]+k] }
	switch {
	case b.level != [2]int{}:
		return math.Atan2(along(b.level, 2), along(b.level, 0))
	case b.plumb != [2]int{}:
		return math.Atan2(-along(b.plumb, 0), along(b.plumb, 2))
	case b.spans != [4]int{}:
		s, t := [2]int(b.spans[:2]), [2]int(b.spans[2:])
		x := along(s, 1)*along(t, 2) - along(s, 2)*along(t, 1)
		y := along(s, 2)*along(t, 0) - along(s, 0)*along(t, 2)
		z := along(s, 0)*along(t, 1) - along(s, 1)*along(t, 0)
		return math.Atan2(math.Hypot(x, y), z)
	}
	return 0
}

// middleLabel returns the place, along x, of the middle one of the numbers on the ground.
func middleLabel(h *clip.Header) float64 {
	most := 0
	at := map[int]float64{}
	for _, s := range h.Static {
		if n, err := strconv.Atoi(s.Text); s.Kind == drawing.Text && err == nil {
			at[n], most = s.Pts[0], max(most, n)
		}
	}
	return at[(most+1)/2]
}
