package board

import (
	"tiebreak/envs/internal/figure"
	"tiebreak/internal/base/drawing"
)

// Guide explains the pictures of a board.
func (e *Env) Guide() drawing.Guide {
	const width = 3.2 // of the view of a picture
	road := figure.Line(drawing.Surface, roadWidth, -0.8, 0, 0.8, 0)
	between := func(back bool) []drawing.Shape {
		out := []drawing.Shape{road, figure.Arrow(-0.8, 0, 0.8, 0, back)}
		if back {
			out = append(out, figure.Arrow(0.8, 0, -0.8, 0, back))
		}
		last := len(e.cfg.Labels) - 1
		out = append(out, figure.Token(-0.8, 0, last-1, e.cfg.Labels[last-1])...)
		return append(out, figure.Token(0.8, 0, last, e.cfg.Labels[last])...)
	}
	return drawing.Guide{
		Purpose: e.cfg.Purpose,
		Look:    e.cfg.Look,

		Purposes: e.cfg.Purposes,
		Legend: []drawing.LegendEntry{
			figure.Entry("agent", "Blue frame with two eyes: the agent. It stands on the field inside the frame.", width,
				append(append([]drawing.Shape{figure.Line(drawing.Surface, roadWidth, 0, 0, 0, 0)}, figure.Token(0, 0, 0, e.cfg.Labels[0])...), figure.Agent(0, 0)...)...),
			figure.Entry("field", "Coloured shape: a field. Its name has no meaning beyond its place.", width, figure.Token(0, 0, 1, e.cfg.Labels[1])...),
			figure.Entry("one-way", "Arrow with one head: the agent can go this way only.", width, between(false)...),
			figure.Entry("both-ways", "Arrow with two heads: the agent can go both ways.", width, between(true)...),
		},
	}
}
