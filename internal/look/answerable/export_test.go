package answerable

import "math"

// Gradient returns the largest derivative, without its sign, of what Fit maximises.
func Gradient(m Model, lessons []Lesson) (most float64) {
	f := fit{rows: make([][terms]float64, len(lessons)), lessons: lessons}
	for i, l := range lessons {
		f.rows[i] = l.row()
	}
	const h = 1e-5
	for k := range m.weights {
		up, down := m, m
		up.weights[k] += h
		down.weights[k] -= h
		most = max(most, math.Abs(f.value(up)-f.value(down))/(2*h))
	}
	return most
}
