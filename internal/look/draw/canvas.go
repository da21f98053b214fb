package draw

import (
	"image"
	"image/color"
	"math"

	"git.sr.ht/~sbinet/gg"
)

// A point is a place on the image, in pixels.
type point struct{ x, y float64 }

// A canvas fills and strokes outlines on an image.
type canvas struct {
	gg *gg.Context
	w  float64 // of the image, pixels
	h  float64
}

func newCanvas(dst *image.RGBA) *canvas {
	size := dst.Bounds().Size()
	c := &canvas{gg.NewContextForRGBA(dst), float64(size.X), float64(size.Y)}
	c.gg.SetLineJoinRound()
	return c
}

// A pattern gives the colour of every pixel.
type pattern = gg.Pattern

// plain is one colour.
func plain(c color.Color) pattern { return gg.NewSolidPattern(c) }

// fill fills the union of outlines, each of which must turn in one direction only: all to the same
// side, or outlines of the two directions cancel.
func (c *canvas) fill(how pattern, outlines ...[]point) {
	for _, o := range outlines {
		c.outline(c.clipped(o))
	}
	c.gg.SetFillStyle(how)
	c.gg.Fill()
}

// fillEvenOdd fills the points that are in an odd number of outlines.
func (c *canvas) fillEvenOdd(how pattern, outlines ...[]point) {
	c.gg.SetFillRuleEvenOdd()
	c.fill(how, outlines...)
	c.gg.SetFillRuleWinding()
}

func (c *canvas) outline(o []point) {
	if len(o) < 3 {
		return
	}
	c.trace(o)
	c.gg.ClosePath()
}

func (c *canvas) trace(line []point) {
	for i, p := range line {
		if i == 0 {
			c.gg.MoveTo(p.x, p.y)
		} else {
			c.gg.LineTo(p.x, p.y)
		}
	}
}

// stroke draws lines as one figure, width pixels wide, with round joints, and
// round ends if so.
func (c *canvas) stroke(how color.Color, width float64, round bool, lines ...[]point) {
	for _, l := range lines {
		c.trace(l)
		c.gg.NewSubPath()
	}
	c.gg.SetLineCapButt()
	if round {
		c.gg.SetLineCapRound()
	}
	c.gg.SetLineWidth(width)
	c.gg.SetColor(how)
	c.gg.Stroke()
}

// strokeClosed draws an outline, width pixels wide.
func (c *canvas) strokeClosed(how color.Color, width float64, o []point) {
	c.stroke(how, width, true, append(o[:len(o):len(o)], o[0]))
}

// rect fills the rows from top to bottom.
func (c *canvas) rect(how pattern, top, bottom float64) {
	if bottom > top {
		c.fill(how, []point{{0, top}, {c.w, top}, {c.w, bottom}, {0, bottom}})
	}
}

// beyond is the distance outside the image at which outlines are cut off, pixels.
const beyond = 2

// clipped returns the part of an outline near the image: a floor may reach a million pixels beyond
// it (Sutherland and Hodgman, Reentrant polygon clipping, 1974).
func (c *canvas) clipped(o []point) []point {
	for _, inside := range []func(p point) float64{
		func(p point) float64 { return p.x + beyond },
		func(p point) float64 { return c.w + beyond - p.x },
		func(p point) float64 { return p.y + beyond },
		func(p point) float64 { return c.h + beyond - p.y },
	} {
		o = cut(o, inside)
	}
	return o
}

// cut returns the part of an outline where inside is not negative.
func cut(o []point, inside func(point) float64) []point {
	var out []point
	for i, a := range o {
		b := o[(i+1)%len(o)]
		da, db := inside(a), inside(b)
		if da >= 0 {
			out = append(out, a)
		}
		if da*db < 0 {
			t := da / (da - db)
			out = append(out, point{a.x + t*(b.x-a.x), a.y + t*(b.y-a.y)})
		}
	}
	return out
}

// arc returns points on an ellipse about c with half axes rx and ry, of which rx
// is turned by turn, from angle from to angle to.
func arc(c point, rx, ry, turn, from, to float64) []point {
	n := int(math.Ceil(math.Abs(to-from) / math.Acos(1-min(1, 0.02/max(rx, ry, 0.02))))) // at most 0.02 pixels off
	n = min(max(n, 4), 200)
	st, ct := math.Sincos(turn)
	out := make([]point, n+1)
	for i := range out {
		s, co := math.Sincos(from + (to-from)*float64(i)/float64(n))
		out[i] = point{c.x + rx*co*ct - ry*s*st, c.y + rx*co*st + ry*s*ct}
	}
	return out
}

// circle returns the outline of a circle.
func circle(c point, r float64) []point { return arc(c, r, r, 0, 0, 2*math.Pi) }

// turned returns the outline with its points in clockwise order on the image.
func turned(o []point) []point {
	area := 0.0
	for i, a := range o {
		b := o[(i+1)%len(o)]
		area += a.x*b.y - b.x*a.y
	}
	if area >= 0 {
		return o
	}
	out := make([]point, len(o))
	for i, p := range o {
		out[len(o)-1-i] = p
	}
	return out
}
