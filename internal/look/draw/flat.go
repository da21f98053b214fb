package draw

import (
	"math"
	"slices"

	"tiebreak/internal/base/drawing"
)

// A sheet draws flat scenes on a canvas.
type sheet struct {
	*canvas
	camera drawing.Camera
	scale  float64 // pixels of a world unit
}

// at returns where a point of the world is.
func (s *sheet) at(x, y float64) point {
	return point{s.w/2 + (x-s.camera.X)*s.scale, s.h/2 - (y-s.camera.Y)*s.scale}
}

// points returns where points of the world are.
func (s *sheet) points(pts []float64) []point {
	out := make([]point, len(pts)/2)
	for i := range out {
		out[i] = s.at(pts[2*i], pts[2*i+1])
	}
	return out
}

// drawFlat draws the scene on c.
func (p *Painter) drawFlat(c *canvas, frame float64) {
	s := &sheet{c, p.scene.Camera, c.w / p.scene.Camera.W}
	c.rect(plain(colour(drawing.Ground)), 0, c.h)
	label := func(a drawing.Shape) bool { return a.Kind == drawing.Text }
	still := slices.DeleteFunc(slices.Clone(p.scene.Static), label)
	for len(still) > 0 {
		n := batch(still)
		s.paint(still[:n])
		still = still[n:]
	}
	for i, w := range p.ways {
		if w != nil && len(p.clip.Frames) > 1 {
			s.trail(&p.scene.Moving[i], w, int(math.Floor(frame)))
		}
	}
	for i := range p.scene.Static { // over trails, so that they stay readable
		if label(p.scene.Static[i]) {
			s.paint(p.scene.Static[i : i+1])
		}
	}
	for i := range p.scene.Moving {
		s.paint(p.scene.Moving[i : i+1])
	}
}

// batch returns how many shapes from the first on are painted together: shapes of the same kind,
// paint and size, so that no edges are visible where they meet.
func batch(shapes []drawing.Shape) int {
	a, n := shapes[0], 1
	for n < len(shapes) && a.Kind != drawing.Text {
		b := shapes[n]
		if b.Kind != a.Kind || b.Paint != a.Paint || (b.Size != a.Size && a.Kind == drawing.Polyline) {
			break
		}
		n++
	}
	return n
}

// paint draws shapes of a batch.
func (s *sheet) paint(shapes []drawing.Shape) {
	var outlines [][]point
	for _, a := range shapes {
		pts := s.points(a.Pts)
		switch a.Kind {
		case drawing.Circle:
			pts = circle(pts[0], a.Size*s.scale)
		case drawing.Polygon:
			pts = turned(pts)
		case drawing.Text:
			s.text(colour(a.Paint), a.Text, pts[0], a.Size*s.scale)
			return
		default: // a line: its points
		}
		outlines = append(outlines, pts)
	}
	how := colour(shapes[0].Paint)
	if shapes[0].Kind == drawing.Polyline {
		s.stroke(how, shapes[0].Size*s.scale, true, outlines...)
	} else {
		s.fill(plain(how), outlines...)
	}
}

// trail draws the path of a shape since the clip began, older parts fainter.
func (s *sheet) trail(a *drawing.Shape, way []float64, whole int) {
	width := max(s.camera.W/110*s.scale, 1.5)
	for k, part := range trailParts(whole) {
		line := s.points(way[2*part.from : 2*part.to+2])
		if k == trailPieces-1 {
			line = append(line, middle(s.points(a.Pts)))
		}
		if len(line) > 1 {
			s.stroke(fade(colour(a.Paint), part.alpha), width, false, line)
		}
	}
}

// middle returns the mean of points.
func middle(pts []point) (m point) {
	n := float64(len(pts))
	for _, p := range pts {
		m.x += p.x / n
		m.y += p.y / n
	}
	return m
}
