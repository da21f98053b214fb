package gridworld

import (
	"slices"

	"tiebreak/envs/internal/figure"
	"tiebreak/internal/base/drawing"
)

// The kinds of objects that the purposes name, and the purpose of a session that has no other.
const (
	red     = 0 // A
	green   = 3 // D
	blue    = 5 // F
	collect = "Collect the blue fields, F, and avoid the red ones, A."
)

// Guide explains the pictures. It does not depend on the layout.
func (e *Env) Guide() drawing.Guide {
	const width = 3.2 // of the view of a picture
	show := func(name, text string, shapes ...drawing.Shape) drawing.LegendEntry {
		floor := []drawing.Shape{figure.Floor(width)}
		for _, at := range []float64{-1.5, -0.5, 0.5, 1.5} {
			floor = append(floor, figure.Line(drawing.Mark, 0.03, at, -2, at, 2), figure.Line(drawing.Mark, 0.03, -2, at, 2, at))
		}
		return figure.Entry(name, text, width, append(floor, shapes...)...)
	}
	three := append(figure.Token(-1, 0, 0, letter(0)), figure.Token(0, 0, 1, letter(1))...)
	task := func(name, text string, tokens ...[]drawing.Shape) drawing.LegendEntry {
		return show(name, text, slices.Concat(tokens...)...)
	}
	tick := []drawing.Shape{figure.Line(drawing.Agent, 0.14, -1.05, -0.8, -0.8, -1.05), figure.Line(drawing.Agent, 0.14, -0.8, -1.05, -0.35, -0.55)}
	cross := []drawing.Shape{figure.Line(drawing.Focus, 0.14, 0.45, -1.05, 0.95, -0.55), figure.Line(drawing.Focus, 0.14, 0.45, -0.55, 0.95, -1.05)}
	return drawing.Guide{
		Purpose: collect,
		Purposes: []drawing.LegendEntry{
			task("collect", collect, figure.Token(-0.7, 0.1, blue, letter(blue)), figure.Token(0.7, 0.1, red, letter(red)), tick, cross),
			task("settle", "Go to a green field, D, and stay there.", figure.Token(0, 0, green, letter(green)), figure.Agent(0, 0)),
			task("floor", "Stay on the empty floor, and keep off all letters.", figure.Agent(0, 0)),
		},
		Look: []string{
			"Which letters does the agent step on, and on which does it stay?",
			"Many steps on a letter count more than one.",
			"If it stays where it is, judge what lies there.",
		},
		Legend: []drawing.LegendEntry{
			show("agent", "Blue frame with two eyes: the agent. It stands on what is inside the frame.", figure.Agent(0, 0)...),
			show("objects", "Letters A to J: ten kinds of objects. The same letter is the same kind.", append(three, figure.Token(1, 0, 2, letter(2))...)...),
			show("wall", "Thick lines: walls. The agent cannot go through them.",
				figure.Line(drawing.Wall, wallWidth, -0.5, -2, -0.5, 0.5), figure.Line(drawing.Wall, wallWidth, -0.5, 0.5, 0.5, 0.5)),
			show("trail", "Blue line: the way that the agent has come.", append([]drawing.Shape{figure.Way(0.09, -1, -1, -1, 0, 0, 0)}, figure.Agent(0, 0)...)...),
		},
	}
}
