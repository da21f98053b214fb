package picture

import (
	"image/color"
	"math"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/spatial/r3"
)

// A lamp shades bodies.
type lamp struct {
	*view
	to   vec     // unit vector to where the light comes from
	line float64 // width of outlines, pixels
}

// brightness returns how light a surface with a unit normal is.
func (l *lamp) brightness(normal vec) float64 {
	return 0.54 + 0.08*normal.Z + 0.5*max(-0.15, r3.Dot(normal, l.to))
}

// paint draws b on c.
func (l *lamp) paint(c *canvas, b *body) {
	switch b.shape.Kind {
	case idrl.Text:
		at := b.at[0]
		c.text(colour(b.shape.Paint), b.shape.Text, at.point, 2*b.r*l.focal/at.z)
	case idrl.Box:
		l.paintBox(c, b)
	default:
		l.paintLimb(c, b)
	}
}

// rim returns the colour of the outline of b.
func rim(b *body) color.Color { return shade(colour(b.shape.Paint), 0.3) }

func (l *lamp) paintBox(c *canvas, b *body) {
	for _, f := range b.faces() {
		if r3.Dot(r3.Sub(l.eye, f.m), f.n) <= 0 {
			continue
		}
		o := l.outline(f.pts)
		c.fill(plain(shade(colour(b.shape.Paint), l.brightness(f.n))), o)
		c.strokeClosed(rim(b), l.line, o)
	}
}

func (l *lamp) paintLimb(c *canvas, b *body) {
	p, q := b.axis()
	rp, rq := b.r*l.focal/p.z, b.r*l.focal/q.z
	axis := unit(r3.Sub(b.pts[1], b.pts[0]))
	toEye := unit(r3.Sub(l.eye, between(b.pts[0], b.pts[1], 0.5)))
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
		how = l.ballShade(b, nearest.point, max(rp, rq))
	} else {
		how = l.limbShade(b, axis, toEye)
	}
	c.fill(how, o)
	c.strokeClosed(rim(b), l.line, o)
}

// limbOutline returns the outline of two circles and what lies between them. The
// first circle is an ellipse with one axis flat times as long.
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

func (l *lamp) ballShade(b *body, at point, r float64) pattern {
	bright := unit(along(l.to, l.forward, -0.6)) // between the light and the eye
	c := point{at.x + 0.75*r*r3.Dot(bright, l.right), at.y - 0.75*r*r3.Dot(bright, l.up)}
	var stops []stop
	for _, s := range [][2]float64{{0, 1.16}, {0.12, 1.1}, {0.4, 0.95}, {0.75, 0.66}, {1, 0.42}} {
		stops = append(stops, opaque(s[0], shade(colour(b.shape.Paint), s[1])))
	}
	return &radial{c, 1.75 * r, newRamp(stops)}
}

func (l *lamp) limbShade(b *body, axis, toEye vec) pattern {
	side := unit(r3.Cross(toEye, axis))
	out := r3.Cross(side, axis) // the normal that faces the eye, or away from it
	sign := 1.0
	if r3.Dot(out, toEye) < 0 {
		sign = -1
	}
	m := l.project(between(b.pts[0], b.pts[1], 0.5))
	r := b.r * l.focal / m.z
	dx, dy := r*r3.Dot(side, l.right), -r*r3.Dot(side, l.up)
	var stops []stop
	for k := range 9 {
		y := float64(k)/4 - 1
		normal := along(r3.Scale(y, side), out, sign*math.Sqrt(1-y*y))
		stops = append(stops, opaque(float64(k)/8, shade(colour(b.shape.Paint), l.brightness(normal))))
	}
	return newLinear(point{m.x - dx, m.y - dy}, point{m.x + dx, m.y + dy}, stops)
}
