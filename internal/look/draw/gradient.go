package draw

import (
	"image/color"
	"math"
)

// A stop is a colour, perhaps transparent, at a place of a gradient.
type stop struct {
	at float64 // 0 to 1
	c  color.NRGBA64
}

// opaque returns a stop of an opaque colour.
func opaque(at float64, c color.RGBA) stop { return stop{at, fade(c, 1).(color.NRGBA64)} }

// shades is the number of colours of a gradient.
const shades = 512

// A ramp has the colours of a gradient, first to last.
type ramp [shades]color.Color

// newRamp returns the colours between stops, which are in order; before the first and after the
// last stop they are constant.
func newRamp(stops []stop) *ramp {
	var r ramp
	k := 0
	for i := range r {
		t := float64(i) / (shades - 1)
		for k < len(stops)-2 && t > stops[k+1].at {
			k++
		}
		a, b := stops[k], stops[k+1]
		w := min(max((t-a.at)/max(b.at-a.at, 1e-9), 0), 1)
		mix := func(v, u uint16) uint16 { return uint16(math.Round(float64(v) + (float64(u)-float64(v))*w)) }
		r[i] = color.RGBA64Model.Convert(color.NRGBA64{mix(a.c.R, b.c.R), mix(a.c.G, b.c.G), mix(a.c.B, b.c.B), mix(a.c.A, b.c.A)})
	}
	return &r
}

// at returns the colour at t, which is cut off to 0 to 1.
func (r *ramp) at(t float64) color.Color {
	return r[int(min(max(t, 0), 1)*(shades-1)+0.5)]
}

// linear is a gradient from one point to another.
type linear struct {
	from, over point // over: the way to the end, divided by its squared length
	colours    *ramp
}

func newLinear(from, to point, stops []stop) *linear {
	dx, dy := to.x-from.x, to.y-from.y
	d := max(dx*dx+dy*dy, 1e-12)
	return &linear{from, point{dx / d, dy / d}, newRamp(stops)}
}

// ColorAt implements gg.Pattern.
func (g *linear) ColorAt(x, y int) color.Color {
	return g.colours.at((float64(x)+0.5-g.from.x)*g.over.x + (float64(y)+0.5-g.from.y)*g.over.y)
}

// radial is a gradient from a point to a circle about it.
type radial struct {
	c       point
	r       float64
	colours *ramp
}

// ColorAt implements gg.Pattern.
func (g *radial) ColorAt(x, y int) color.Color {
	return g.colours.at(math.Hypot(float64(x)+0.5-g.c.x, float64(y)+0.5-g.c.y) / g.r)
}
