package mujoco

import (
	"tiebreak/internal/base/drawing"
)

// SingleSteps returns the scenes after each engine step from before to after,
// made one by one; the last is that of after.
func (e *Env) SingleSteps(before, after []float64) (out []drawing.Scene) {
	e.Restore(after)
	ctrl := append([]float64(nil), e.d.Ctrl...)
	e.Restore(before)
	copy(e.d.Ctrl, ctrl)
	for range e.skip {
		if err := e.d.Step(1); err != nil {
			panic(err)
		}
		var s drawing.Scene
		e.Draw(&s)
		out = append(out, s)
	}
	e.Restore(after)
	e.Draw(&out[e.skip-1])
	return out
}

// MarkText returns the first mark after the start in a view of a width.
func MarkText(width float64) string { return distance(markStep(width)) }
