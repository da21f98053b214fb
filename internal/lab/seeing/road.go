package seeing

import (
	"math"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/look/clip"
)

// A traffic is what a person sees in a clip of the road.
type traffic struct {
	ahead float64 // mean speed ahead, units per second; of a still by the arrow at the car
	road  float64 // share of the states in which the middle of the car is on the road
	hit   bool    // the cars touch at some time
}

// drive returns the worth of a drive.
func drive(c *clip.Clip) (float64, error) {
	t, err := watchRoad(c)
	if err != nil {
		return 0, err
	}
	v := t.ahead + t.road
	if t.hit {
		v--
	}
	return v, nil
}

// The arrow ahead of a car begins before its nose, and shows where it is in 0.3 s.
const (
	arrowFrom = 0.13
	arrowSec  = 0.3
)

func watchRoad(c *clip.Clip) (t traffic, err error) {
	car := mover(c, vehicle(drawing.Agent, true))
	head := mover(c, vehicle(drawing.Agent, false))
	van := mover(c, vehicle(drawing.Other, true))
	left, right := edges(c)
	if car == nil || head == nil || van == nil || !(left < right) || c.Header.Distance > 0 {
		return t, errDrawing(c)
	}
	n := float64(len(c.Frames))
	for _, row := range c.Frames {
		x, _ := centre(row, car)
		if left <= x && x <= right {
			t.road++
		}
		t.hit = t.hit || overlap(corners(row, car), corners(row, van))
	}
	t.road /= n
	first, last := c.Frames[0], c.Frames[len(c.Frames)-1]
	x, from := centre(first, car)
	if len(c.Frames) == 1 {
		tip := corners(first, head)[1]
		dx, dy := tip[0]-x, tip[1]-from
		long := math.Hypot(dx, dy)
		t.ahead = dy / long * max(0, long-arrowFrom) / arrowSec
		return t, nil
	}
	_, to := centre(last, car)
	t.ahead = (to - from) / ((n - 1) * c.Header.FrameSec)
	return t, nil
}

// vehicle returns what tells the body of a car, or the head of its arrow.
func vehicle(paint drawing.Paint, body bool) func(clip.Shape) bool {
	return func(s clip.Shape) bool {
		return s.Kind == drawing.Polygon && s.Paint == paint && s.Trail == body && (body || len(s.At) == 3)
	}
}

// edges returns the edges of the road.
func edges(c *clip.Clip) (left, right float64) {
	left, right = math.Inf(1), math.Inf(-1)
	for _, s := range c.Header.Static {
		if s.Kind != drawing.Polygon || s.Paint != drawing.Surface {
			continue
		}
		for i := 0; i < len(s.Pts); i += 2 {
			left, right = min(left, s.Pts[i]), max(right, s.Pts[i])
		}
	}
	return left, right
}

// overlap reports whether two convex polygons have a point in common: no side of either has the
// other one beyond it.
func overlap(a, b [][2]float64) bool { return !parted(a, b) && !parted(b, a) }

// parted reports whether a line along some side of a has a and b on different sides.
func parted(a, b [][2]float64) bool {
	for i, p := range a {
		q := a[(i+1)%len(a)]
		nx, ny := q[1]-p[1], p[0]-q[0]
		lowA, highA := span(a, nx, ny)
		lowB, highB := span(b, nx, ny)
		if lowB > highA || lowA > highB {
			return true
		}
	}
	return false
}

// span returns how far points reach along a direction.
func span(pts [][2]float64, x, y float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range pts {
		v := x*p[0] + y*p[1]
		low, high = min(low, v), max(high, v)
	}
	return low, high
}
