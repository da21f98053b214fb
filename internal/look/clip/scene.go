package clip

import (
	"math"
	"slices"

	"tiebreak/internal/base/drawing"
)

// Scene stores in dst, which it overwrites, the scene at a frame. A frame between two whole numbers
// is interpolated linearly between their scenes; frames before the first or after the last are
// these. dst shares no memory with c and may be used again for the next frame.
func (c *Clip) Scene(dst *drawing.Scene, frame float64) {
	h := &c.Header
	row := c.between(frame)
	view := h.camera()
	dim := view.PointDim()
	view.X, view.Y = row[0], row[1]
	if dim == 3 {
		view.Z = row[2]
	}
	dst.Camera = view
	dst.Static = slices.Grow(dst.Static[:0], len(h.Static))[:len(h.Static)]
	for i, s := range h.Static {
		dst.Static[i] = s.shape(append(dst.Static[i].Pts[:0], s.Pts...))
	}
	dst.Moving = slices.Grow(dst.Moving[:0], len(h.Moving))[:len(h.Moving)]
	for i, s := range h.Moving {
		pts := dst.Moving[i].Pts[:0]
		for _, p := range s.At {
			pts = append(pts, row[p*dim:(p+1)*dim]...)
		}
		dst.Moving[i] = s.shape(pts)
	}
}

// shape returns s with the given points.
func (s *Shape) shape(pts []float64) drawing.Shape {
	return drawing.Shape{Kind: s.Kind, Paint: s.Paint, Size: s.Size, Pts: pts, Text: s.Text, Trail: s.Trail}
}

// between returns the numbers at a frame.
func (c *Clip) between(frame float64) []float64 {
	last := len(c.Frames) - 1
	frame = min(max(frame, 0), float64(last))
	i := min(int(math.Floor(frame)), max(last-1, 0))
	a, b, w := c.Frames[i], c.Frames[min(i+1, last)], frame-float64(i)
	row := make([]float64, len(a))
	for k := range row {
		row[k] = (1-w)*a[k] + w*b[k] // exact at whole frames
	}
	return row
}
