package gridworld

import (
	"math"

	"tiebreak/internal/idrl"
)

// Sizes of what is drawn, in cells.
const (
	margin    = 0.25 // around the floor
	wallWidth = 0.14
	objRadius = 0.34
)

// Draw stores the present state in dst. The agent is a frame around what lies
// in its cell, so that an object stays readable.
//
// The static shapes belong to the environment; the caller must not change them.
func (e *Env) Draw(dst *idrl.Scene) {
	if e.static == nil {
		e.static = e.layout.draw()
	}
	dst.Camera = idrl.Camera{X: side / 2, Y: side / 2, W: side + 2*margin, H: side + 2*margin}
	dst.Static = e.static
	dst.Moving = append(dst.Moving[:0], figure(centre(e.state))...)
}

// figure returns the agent: a frame with two eyes on top.
func figure(x, y float64) []idrl.Shape {
	const frame, eyeX, eyeY = 0.42, 0.2, 0.4
	square := corners(x, y, frame)
	square = append(square, square...) // twice around: closed, and its mean is the centre
	eye := func(paint idrl.Paint, radius, aside float64) idrl.Shape {
		return idrl.Shape{Kind: idrl.Circle, Paint: paint, Size: radius, Pts: []float64{x + aside, y + eyeY}}
	}
	return []idrl.Shape{
		{Kind: idrl.Polyline, Paint: idrl.AgentFg, Size: 0.22, Pts: square},
		{Kind: idrl.Polyline, Paint: idrl.Agent, Size: 0.15, Pts: square, Trail: true},
		eye(idrl.AgentFg, 0.19, -eyeX), eye(idrl.AgentFg, 0.19, eyeX),
		eye(idrl.Agent, 0.1, -eyeX), eye(idrl.Agent, 0.1, eyeX),
	}
}

// centre returns the middle of cell s. Row 0 is at the top.
func centre(s int) (x, y float64) {
	return float64(s%side) + 0.5, side - 0.5 - float64(s/side)
}

// corners returns a square around (x, y) whose sides are 2r long.
func corners(x, y, r float64) []float64 {
	return []float64{x - r, y - r, x + r, y - r, x + r, y + r, x - r, y + r}
}

// draw returns the floor with its lines, objects and walls.
func (l *layout) draw() []idrl.Shape {
	out := []idrl.Shape{{Kind: idrl.Polygon, Paint: idrl.Surface, Pts: corners(side/2, side/2, side/2)}}
	for i := 1.0; i < side; i++ {
		out = append(out, line(idrl.Mark, 0.03, i, 0, i, side), line(idrl.Mark, 0.03, 0, i, side, i))
	}
	for s, tile := range l.tiles {
		if tile != floor {
			out = append(out, object(s, tile-1)...)
		}
	}
	return append(out, l.drawWalls()...)
}

// object returns object type k in cell s: one of five outlines, a colour, and a
// letter, so that types are told apart without seeing colours.
func object(s, k int) []idrl.Shape {
	x, y := centre(s)
	paint := []idrl.Paint{
		idrl.Object0, idrl.Object1, idrl.Object2, idrl.Object3, idrl.Object4,
		idrl.Object5, idrl.Object6, idrl.Object7, idrl.Object8, idrl.Object9,
	}[k]
	body := idrl.Shape{Kind: idrl.Polygon, Paint: paint}
	letterY := y
	switch k % 5 {
	case 0:
		body = idrl.Shape{Kind: idrl.Circle, Paint: paint, Size: objRadius, Pts: []float64{x, y}}
	case 1:
		body.Pts = corners(x, y, 0.88*objRadius)
	case 2:
		body.Pts = polygon(x, y, 1.15*objRadius, 4, math.Pi/2)
	case 3:
		body.Pts = polygon(x, y, 1.04*objRadius, 6, 0)
	case 4:
		letterY = y - 0.06
		body.Pts = polygon(x, y-0.05, 1.25*objRadius, 3, math.Pi/2)
	}
	return []idrl.Shape{body, {Kind: idrl.Text, Paint: idrl.Ink, Size: 0.44, Pts: []float64{x, round(letterY)}, Text: letter(k)}}
}

// polygon returns the corners of a regular polygon of n sides around (x, y), the
// first in the direction angleRad.
func polygon(x, y, radius float64, n int, angleRad float64) []float64 {
	out := make([]float64, 0, 2*n)
	for i := range n {
		sin, cos := math.Sincos(angleRad + 2*math.Pi*float64(i)/float64(n))
		out = append(out, round(x+radius*cos), round(y+radius*sin))
	}
	return out
}

// drawWalls returns the edge of the floor and the walls; walls in one line are
// one stroke.
func (l *layout) drawWalls() []idrl.Shape {
	frame := corners(side/2, side/2, side/2)
	out := []idrl.Shape{{Kind: idrl.Polyline, Paint: idrl.Wall, Size: wallWidth, Pts: append(frame, frame[:4]...)}}
	for i := range side {
		for from := 0; from < side; from++ {
			to := from
			for to < side && l.walls[i+side*to][right] {
				to++
			}
			if to > from {
				x := float64(i + 1)
				out = append(out, line(idrl.Wall, wallWidth, x, float64(side-from), x, float64(side-to)))
				from = to
			}
		}
		for from := 0; from < side; from++ {
			to := from
			for to < side && l.walls[to+side*i][down] {
				to++
			}
			if to > from {
				y := float64(side - i - 1)
				out = append(out, line(idrl.Wall, wallWidth, float64(from), y, float64(to), y))
				from = to
			}
		}
	}
	return out
}

func line(paint idrl.Paint, width, x0, y0, x1, y1 float64) idrl.Shape {
	return idrl.Shape{Kind: idrl.Polyline, Paint: paint, Size: width, Pts: []float64{x0, y0, x1, y1}}
}

// round keeps the digits of static points few, and with them the bytes of a clip.
func round(v float64) float64 { return math.Round(100*v) / 100 }
