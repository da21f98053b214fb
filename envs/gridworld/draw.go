package gridworld

import (
	"tiebreak/envs/internal/figure"
	"tiebreak/internal/base/drawing"
)

// Sizes of what is drawn, in cells.
const (
	margin    = 0.25 // around the floor
	wallWidth = 0.14
)

// Draw stores the present state in dst. The agent is a frame around what lies
// in its cell, so that an object stays readable.
//
// The static shapes belong to the environment; the caller must not change them.
func (e *Env) Draw(dst *drawing.Scene) {
	if e.static == nil {
		e.static = e.layout.draw()
	}
	dst.Camera = drawing.Camera{X: side / 2, Y: side / 2, W: side + 2*margin, H: side + 2*margin}
	dst.Static = e.static
	dst.Moving = append(dst.Moving[:0], figure.Agent(centre(e.state))...)
}

// centre returns the middle of cell s. Row 0 is at the top.
func centre(s int) (x, y float64) {
	return float64(s%side) + 0.5, side - 0.5 - float64(s/side)
}

// draw returns the floor with its lines, objects and walls.
func (l *layout) draw() []drawing.Shape {
	out := []drawing.Shape{{Kind: drawing.Polygon, Paint: drawing.Surface, Pts: figure.Corners(side/2, side/2, side/2)}}
	for i := 1.0; i < side; i++ {
		out = append(out, figure.Line(drawing.Mark, 0.03, i, 0, i, side), figure.Line(drawing.Mark, 0.03, 0, i, side, i))
	}
	for s, tile := range l.tiles {
		if tile != floor {
			x, y := centre(s)
			out = append(out, figure.Token(x, y, tile-1, letter(tile-1))...)
		}
	}
	return append(out, l.drawWalls()...)
}

// drawWalls returns the edge of the floor and the walls; walls in one line are
// one stroke.
func (l *layout) drawWalls() []drawing.Shape {
	frame := figure.Corners(side/2, side/2, side/2)
	out := []drawing.Shape{{Kind: drawing.Polyline, Paint: drawing.Wall, Size: wallWidth, Pts: append(frame, frame[:4]...)}}
	for i := range side {
		for from := 0; from < side; from++ {
			to := from
			for to < side && l.walls[i+side*to][right] {
				to++
			}
			if to > from {
				x := float64(i + 1)
				out = append(out, figure.Line(drawing.Wall, wallWidth, x, float64(side-from), x, float64(side-to)))
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
				out = append(out, figure.Line(drawing.Wall, wallWidth, float64(from), y, float64(to), y))
				from = to
			}
		}
	}
	return out
}
