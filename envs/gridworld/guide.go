package gridworld

import (
	"tiebreak/envs/internal/figure"
	"tiebreak/internal/base/drawing"
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
	return drawing.Guide{
		Purpose: "Judge where the agent goes: which objects it walks to and stays on, and which it keeps away from.",
		Look: []string{
			"Which letters does the agent step on, and where is it at the end?",
			"The letters have no fixed meaning. If you were told what to prefer, go by that; otherwise by your own taste.",
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
