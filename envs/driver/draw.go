package driver

import (
	"math"

	"tiebreak/internal/base/drawing"
)

// Sizes of what is drawn, in the units of the road.
const (
	view        = 1.3 // side of the square in view
	lead        = 0.2 // how far ahead of the agent the middle of the view lies
	deadZone    = 0.3 // how far the agent strays sideways before the view follows
	carLength   = 0.23
	carWidth    = 0.115
	arrowLength = 0.3 // of a car at full speed: where it is 0.3 s later
)

// Draw stores the present state in dst. The view follows the agent; its position
// depends on the state alone, so that two clips can be compared. In a still the
// shapes of the cars show headings, and the arrows ahead of them show speeds.
//
// The static shapes belong to the environment; the caller must not change them.
func (e *Env) Draw(dst *drawing.Scene) {
	if e.static == nil {
		e.static = scenery()
	}
	a, o := e.agent, e.other[e.t]
	dst.Camera = drawing.Camera{
		X: a.x - max(-deadZone, min(deadZone, a.x)), Y: a.y + lead,
		W: view, H: view,
	}
	dst.Static = e.static
	dst.Moving = append(dst.Moving[:0], pointer(dst.Camera, o))
	dst.Moving = append(dst.Moving, vehicle(o, vanBody, drawing.Other, drawing.OtherFg)...)
	dst.Moving = append(dst.Moving, vehicle(a, carBody, drawing.Agent, drawing.AgentFg)...)
	dst.Moving = append(dst.Moving, contact(a, o))
}

// contact returns a star where the two cars touch. Where they do not it has no size.
func contact(a, o car) drawing.Shape {
	const outer, inner, spikes = 0.09, 0.04, 7
	size := 0.0
	x, y := a.x, a.y
	if touch(a, o) {
		size, x, y = 1, (a.x+o.x)/2, (a.y+o.y)/2
	}
	s := drawing.Shape{Kind: drawing.Polygon, Paint: drawing.Focus}
	for k := range 2 * spikes {
		r := size * []float64{outer, inner}[k%2]
		sin, cos := math.Sincos(math.Pi * float64(k) / spikes)
		s.Pts = append(s.Pts, x+r*sin, y+r*cos)
	}
	return s
}

// touch reports whether the rectangles around two cars overlap: no side of either lies
// between them.
func touch(a, o car) bool {
	apart := func(a, o car) bool {
		sin, cos := math.Sincos(a.angleRad)
		dx, dy := o.x-a.x, o.y-a.y
		turn := o.angleRad - a.angleRad
		s, c := math.Abs(math.Sin(turn)), math.Abs(math.Cos(turn))
		const l, w = carLength / 2, carWidth / 2
		return math.Abs(dx*cos+dy*sin) > l+l*c+w*s || math.Abs(dy*cos-dx*sin) > w+l*s+w*c
	}
	return !apart(a, o) && !apart(o, a)
}

// The outlines of the two vehicles: x ahead, y to the left, in halves of
// carLength and carWidth. The agent is tapered and the other car a box, so that
// they differ by more than colour.
var (
	carBody = []float64{-1, -0.85, 0.35, -1, 1, -0.5, 1, 0.5, 0.35, 1, -1, 0.85}
	vanBody = []float64{-1, -1, 1, -1, 1, 1, -1, 1}
	screen  = []float64{0.3, -0.6, 0.3, 0.6}
	shaft   = []float64{0, 0, 1, 0}
	head    = []float64{0, -1, 1, 0, 0, 1}

	triangle = []float64{-0.7, -1, 1, 0, -0.7, 1}
)

// vehicle returns the shapes of a car: its arrow, its body and its windscreen.
func vehicle(c car, body []float64, paint, glass drawing.Paint) []drawing.Shape {
	const nose, headLength, headWidth = carLength/2 + 0.015, 0.07, 0.04
	dir := math.Copysign(1, c.speed) // the arrow of a car that reverses starts at its tail
	length := arrowLength * math.Abs(c.speed)
	tip := min(headLength, length)
	return []drawing.Shape{
		{Kind: drawing.Polyline, Paint: paint, Size: 0.028, Pts: place(c, shaft, dir*nose, dir*(length-tip), 0)},
		{Kind: drawing.Polygon, Paint: paint, Pts: place(c, head, dir*(nose+length-tip), dir*tip, headWidth*tip/headLength)},
		{Kind: drawing.Polygon, Paint: paint, Pts: place(c, body, 0, carLength/2, carWidth/2), Trail: true},
		{Kind: drawing.Polyline, Paint: glass, Size: 0.045, Pts: place(c, screen, 0, carLength/2, carWidth/2)},
	}
}

// place returns the points pts, scaled by sx and sy and moved ahead by shift, in
// the frame of c.
func place(c car, pts []float64, shift, sx, sy float64) []float64 {
	sin, cos := math.Sincos(c.angleRad)
	out := make([]float64, len(pts))
	for i := 0; i < len(pts); i += 2 {
		ahead, aside := shift+sx*pts[i], sy*pts[i+1]
		out[i], out[i+1] = c.x+ahead*cos-aside*sin, c.y+ahead*sin+aside*cos
	}
	return out
}

// pointer returns a triangle at the edge of the view that points to the other
// car where it is out of view. Else the triangle lies hidden beneath that car,
// so that it moves without a jump.
func pointer(camera drawing.Camera, other car) drawing.Shape {
	const size = 0.045
	rx, ry := camera.W/2-1.3*size, camera.H/2-1.3*size
	at := car{
		x: camera.X + max(-rx, min(rx, other.x-camera.X)),
		y: camera.Y + max(-ry, min(ry, other.y-camera.Y)),
	}
	at.angleRad = math.Atan2(other.y-at.y, other.x-at.x)
	return drawing.Shape{Kind: drawing.Polygon, Paint: drawing.Other, Pts: place(at, triangle, 0, size, size)}
}
