package board

import (
	"math"

	"tiebreak/envs/internal/figure"
	"tiebreak/internal/base/drawing"
)

// Sizes of what is drawn, world units.
const (
	roadWidth = 1.1
	margin    = 0.8 // from the middle of the outermost fields to the edge of the view
)

// Draw stores the present state in dst. Every field has a token of its own.
// Roads join the fields between which the agent can go, with an arrow for each
// direction in which it can.
//
// The static shapes belong to the environment; the caller must not change them.
func (e *Env) Draw(dst *drawing.Scene) {
	if e.static == nil {
		e.static = e.scenery()
	}
	dst.Camera = e.camera()
	dst.Static = e.static
	dst.Moving = append(dst.Moving[:0], figure.Agent(e.place(e.state))...)
}

// place returns the middle of field s with few digits.
func (e *Env) place(s int) (x, y float64) {
	x, y = e.cfg.Place(s)
	return figure.Round(x), figure.Round(y)
}

// camera returns a view of the whole board.
func (e *Env) camera() drawing.Camera {
	left, low := math.Inf(1), math.Inf(1)
	right, high := math.Inf(-1), math.Inf(-1)
	for s := range e.NumStates() {
		x, y := e.place(s)
		left, right = min(left, x), max(right, x)
		low, high = min(low, y), max(high, y)
	}
	return drawing.Camera{
		X: figure.Round((left + right) / 2), Y: figure.Round((low + high) / 2),
		W: figure.Round(right - left + 2*margin), H: figure.Round(high - low + 2*margin),
	}
}

// scenery returns the roads, the arrows on them, and the tokens.
func (e *Env) scenery() []drawing.Shape {
	var roads, arrows, tokens []drawing.Shape
	for s, label := range e.cfg.Labels {
		x, y := e.place(s)
		tokens = append(tokens, figure.Token(x, y, s, label)...)
		for t := range e.cfg.Labels {
			if t == s || !e.leads(s, t) {
				continue
			}
			toX, toY := e.place(t)
			back := e.leads(t, s)
			if s < t || !back {
				roads = append(roads, figure.Line(drawing.Surface, roadWidth, x, y, toX, toY))
			}
			arrows = append(arrows, figure.Arrow(x, y, toX, toY, back))
		}
	}
	return append(append(roads, arrows...), tokens...)
}
