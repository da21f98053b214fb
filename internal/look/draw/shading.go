package draw

import (
	"image/color"
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"tiebreak/internal/base/drawing"
)

// A shading draws bodies in the light of the sun, with outlines.
type shading struct {
	*view
	to   vec     // unit vector to where the light comes from
	line float64 // width of outlines, pixels
}

// brightness returns the brightness of a surface with a unit normal.
func (s *shading) brightness(normal vec) float64 {
	return 0.54 + 0.08*normal.Z + 0.5*max(-0.15, r3.Dot(normal, s.to))
}

// paint draws b on c.
func (s *shading) paint(c *canvas, b *body) {
	switch b.shape.Kind {
	case drawing.Text:
		at := b.at[0]
		c.text(colour(b.shape.Paint), b.shape.Text, at.point, 2*b.r*s.focal/at.z)
	case drawing.Box:
		s.paintBox(c, b)
	default:
		s.paintLimb(c, b)
	}
}

// rim returns the colour of the outline of b.
func rim(b *body) color.Color { return shade(colour(b.shape.Paint), 0.3) }

func (s *shading) paintBox(c *canvas, b *body) {
	for _, f := range b.faces() {
		if r3.Dot(r3.Sub(s.eye, f.m), f.n) <= 0 {
			continue
		}
		o := s.outline(f.pts)
		c.fill(plain(shade(colour(b.shape.Paint), s.brightness(f.n))), o)
		c.strokeClosed(rim(b), s.line, o)
	}
}

func (s *shading) paintLimb(c *canvas, b *body) {
	p, q := b.axis()
	rp, rq := b.r*s.focal/p.z, b.r*s.focal/q.z
	axis := unit(r3.Sub(b.pts[1], b.pts[0]))
	toEye := unit(r3.Sub(s.eye, between(b.pts[0], b.pts[1], 0.5)))
	flat := 1.0
	if b.cut {
		flat = math.Abs(r3.Dot(axis, toEye)) // 0: seen from the side
	}
	o := limbOutline(p.point, q.point, rp, rq, flat)
	var how pattern
	if math.Hypot(q.x-p.x, q.y-p.y) < 0.3*max(rp, rq) {
		nearest := q
		if p.z < q.z {
			nearest = p
		}
		how = s.ballShade(b, nearest.point, max(rp, rq))
	} else {
		how = s.limbShade(b, axis, toEye)
	}
	c.fill(how, o)
	c.strokeClosed(rim(b), s.line, o)
}

// limbOutline returns the outline of two circles and the area between them. The first circle is an
// ellipse with one axis flat times as long.
func limbOutline(a, b point, ra, rb, flat float64) []point {
	d := math.Hypot(b.x-a.x, b.y-a.y)
	if d <= math.Abs(ra-rb)+0.01 {
		if ra > rb {
			return circle(a, ra)
		}
		return circle(b, rb)
	}
	turn := math.Atan2(b.y-a.y, b.x-a.x)
	open := math.Acos((ra - rb) / d) // from the axis to where the sides touch
	return append(arc(a, max(ra*flat, 0.01), ra, turn, open, 2*math.Pi-open), arc(b, rb, rb, 0, turn-open, turn+open)...)
}

func (s *shading) ballShade(b *body, at point, r float64) pattern {
	bright := unit(along(s.to, s.forward, -0.6)) // between the light and the eye
	c := point{at.x + 0.75*r*r3.Dot(bright, s.right), at.y - 0.75*r*r3.Dot(bright, s.up)}
	var stops []stop
	for _, ring := range [][2]float64{{0, 1.16}, {0.12, 1.1}, {0.4, 0.95}, {0.75, 0.66}, {1, 0.42}} {
		stops = append(stops, opaque(ring[0], shade(colour(b.shape.Paint), ring[1])))
	}
	return &radial{c, 1.75 * r, newRamp(stops)}
}

func (s *shading) limbShade(b *body, axis, toEye vec) pattern {
	side := unit(r3.Cross(toEye, axis))
	out := r3.Cross(side, axis) // the normal that faces the eye, or away from it
	sign := 1.0
	if r3.Dot(out, toEye) < 0 {
		sign = -1
	}
	m := s.project(between(b.pts[0], b.pts[1], 0.5))
	r := b.r * s.focal / m.z
	dx, dy := r*r3.Dot(side, s.right), -r*r3.Dot(side, s.up)
	var stops []stop
	for k := range 9 {
		y := float64(k)/4 - 1
		normal := along(r3.Scale(y, side), out, sign*math.Sqrt(1-y*y))
		stops = append(stops, opaque(float64(k)/8, shade(colour(b.shape.Paint), s.brightness(normal))))
	}
	return newLinear(point{m.x - dx, m.y - dy}, point{m.x + dx, m.y + dy}, stops)
}
