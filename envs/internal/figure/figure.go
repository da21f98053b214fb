package figure

import (
	"math"
	"unicode/utf8"

	"tiebreak/internal/base/drawing"
)

// TokenKinds is the number of tokens that differ.
const TokenKinds = 50

const tokenRadius = 0.34

// Token returns token k, modulo TokenKinds, on the field around (x, y): one of five
// outlines, one of ten colours, and a label, so that tokens can be told apart
// without seeing colours.
func Token(x, y float64, k int, label string) []drawing.Shape {
	k %= TokenKinds
	paint := []drawing.Paint{
		drawing.Object0, drawing.Object1, drawing.Object2, drawing.Object3, drawing.Object4,
		drawing.Object5, drawing.Object6, drawing.Object7, drawing.Object8, drawing.Object9,
	}[k%10]
	body := drawing.Shape{Kind: drawing.Polygon, Paint: paint}
	labelY := y
	switch (k + k/10) % 5 {
	case 0:
		body = drawing.Shape{Kind: drawing.Circle, Paint: paint, Size: tokenRadius, Pts: []float64{x, y}}
	case 1:
		body.Pts = Corners(x, y, 0.88*tokenRadius)
	case 2:
		body.Pts = polygon(x, y, 1.15*tokenRadius, 4, math.Pi/2)
	case 3:
		body.Pts = polygon(x, y, 1.04*tokenRadius, 6, 0)
	case 4:
		labelY = y - 0.06
		body.Pts = polygon(x, y-0.05, 1.25*tokenRadius, 3, math.Pi/2)
	}
	return []drawing.Shape{body, {
		Kind: drawing.Text, Paint: drawing.Ink, Size: labelHeight(label),
		Pts: []float64{x, Round(labelY)}, Text: label,
	}}
}

// labelHeight is such that a label fits on a token.
func labelHeight(label string) float64 {
	return min(0.44, 0.72/float64(max(1, utf8.RuneCountInString(label))))
}

// Agent returns the agent on the field around (x, y): a frame with two eyes on
// top, around what lies there, so that it stays readable. The frame leaves a
// trail through the middles of fields.
func Agent(x, y float64) []drawing.Shape {
	const frame, eyeX, eyeY = 0.42, 0.2, 0.4
	square := Corners(x, y, frame)
	square = append(square, square...) // twice around: closed, and its mean is the centre
	eye := func(paint drawing.Paint, radius, aside float64) drawing.Shape {
		return drawing.Shape{Kind: drawing.Circle, Paint: paint, Size: radius, Pts: []float64{x + aside, y + eyeY}}
	}
	return []drawing.Shape{
		{Kind: drawing.Polyline, Paint: drawing.AgentFg, Size: 0.22, Pts: square},
		{Kind: drawing.Polyline, Paint: drawing.Agent, Size: 0.15, Pts: square, Trail: true},
		eye(drawing.AgentFg, 0.19, -eyeX), eye(drawing.AgentFg, 0.19, eyeX),
		eye(drawing.Agent, 0.1, -eyeX), eye(drawing.Agent, 0.1, eyeX),
	}
}

// Arrow returns an arrow in the middle between (x0, y0) and (x1, y1) that points to
// the latter. If paired is true it is the half of an arrow that points both ways;
// the arrow of the way back is the other half.
func Arrow(x0, y0, x1, y1 float64, paired bool) drawing.Shape {
	const shaft, headLength, headWidth = 0.04, 0.18, 0.15 // widths are halved
	tail, tip := -0.22, 0.22
	if paired {
		tail, tip = 0, 0.25
	}
	dist := math.Hypot(x1-x0, y1-y0)
	dx, dy := (x1-x0)/dist, (y1-y0)/dist
	neck := tip - headLength
	out := drawing.Shape{Kind: drawing.Polygon, Paint: drawing.Wall}
	for _, p := range [][2]float64{ // along, aside
		{tip, 0},
		{neck, headWidth},
		{neck, shaft},
		{tail, shaft},
		{tail, -shaft},
		{neck, -shaft},
		{neck, -headWidth},
	} {
		out.Pts = append(out.Pts,
			Round((x0+x1)/2+p[0]*dx-p[1]*dy),
			Round((y0+y1)/2+p[0]*dy+p[1]*dx))
	}
	return out
}

// Line returns a stroke from (x0, y0) to (x1, y1).
func Line(paint drawing.Paint, width, x0, y0, x1, y1 float64) drawing.Shape {
	return drawing.Shape{Kind: drawing.Polyline, Paint: paint, Size: width, Pts: []float64{Round(x0), Round(y0), Round(x1), Round(y1)}}
}

// Corners returns the corners of a square around (x, y) whose sides are 2r long.
func Corners(x, y, r float64) []float64 {
	left, right, low, high := Round(x-r), Round(x+r), Round(y-r), Round(y+r)
	return []float64{left, low, right, low, right, high, left, high}
}

// polygon returns the corners of a regular polygon of n sides around (x, y), the
// first in the direction angleRad.
func polygon(x, y, radius float64, n int, angleRad float64) []float64 {
	out := make([]float64, 0, 2*n)
	for i := range n {
		sin, cos := math.Sincos(angleRad + 2*math.Pi*float64(i)/float64(n))
		out = append(out, Round(x+radius*cos), Round(y+radius*sin))
	}
	return out
}

// Round keeps the digits of static points few, and with them the bytes of a clip.
func Round(v float64) float64 { return math.Round(100*v) / 100 }
