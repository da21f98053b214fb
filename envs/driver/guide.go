package driver

import (
	"math"

	"tiebreak/envs/internal/figure"
	"tiebreak/internal/base/drawing"
)

// Guide explains the pictures.
func (e *Env) Guide() drawing.Guide {
	const width = 0.64 // of the view of a picture
	north := func(x, y, speed float64) car { return car{x, y, math.Pi / 2, speed} }
	show := func(name, text string, shapes ...[]drawing.Shape) drawing.LegendEntry {
		all := []drawing.Shape{
			figure.Floor(width),
			{Kind: drawing.Polyline, Paint: drawing.Mark, Size: 0.012, Pts: []float64{-0.16, -1, -0.16, 1}},
			{Kind: drawing.Polyline, Paint: drawing.Mark, Size: 0.012, Pts: []float64{0.16, -1, 0.16, 1}},
		}
		for _, s := range shapes {
			all = append(all, s...)
		}
		return figure.Entry(name, text, width, all...)
	}
	blue := func(c car) []drawing.Shape { return vehicle(c, carBody, drawing.Agent, drawing.AgentFg) }
	orange := func(c car) []drawing.Shape { return vehicle(c, vanBody, drawing.Other, drawing.OtherFg) }
	still := func(shapes []drawing.Shape) []drawing.Shape { return shapes[2:] } // without the arrow
	edge := pointer(drawing.Camera{W: 0.3, H: 0.3}, car{x: 1})
	return drawing.Guide{
		Purposes: []drawing.LegendEntry{
			{Name: "safe", Text: "Drive safely and keep going: stay on the road, clear of the van, and move forward."},
			{Name: "overtake", Text: "Overtake the orange van soon, without touching it."},
			{Name: "calm", Text: "Drive slowly and straight, in the middle of one lane."},
		},
		Purpose: "Judge how the blue car drives: choose the drive that you would rather sit in.",
		Look: []string{
			"Does it stay on the road, and in one lane, except when it overtakes?",
			"Does it keep clear of the orange van?",
			"Does it go forward at a good speed, without swerving or turning round?",
		},
		Legend: []drawing.LegendEntry{
			show("car", "Blue car: the one that you judge. Its narrow end is the front.", still(blue(north(0, 0, 0)))),
			show("van", "Orange van: another driver. It changes lanes, always in the same way.", still(orange(north(0, 0, 0)))),
			show("arrow", "Arrow: where a car goes, and how fast. The longer, the faster.", blue(north(0, -0.12, 0.7))),
			show("reverse", "An arrow out of the back: the car drives backwards.", blue(north(0, 0.1, -0.6))),
			show("trail", "Blue line: the way that the car has come.",
				[]drawing.Shape{figure.Way(0.02, -0.16, -0.24, -0.12, -0.16, -0.02, -0.04, 0, 0.05)}, still(blue(north(0, 0.08, 0)))),
			show("contact", "Pink star: the two cars touch.",
				still(orange(north(0.07, 0.08, 0))), still(blue(north(-0.02, -0.07, 0))), []drawing.Shape{contact(north(-0.02, -0.07, 0), north(0.07, 0.08, 0))}),
			show("pointer", "Orange triangle at the edge: the van is out of the picture, in that direction.", []drawing.Shape{edge}),
		},
	}
}
