package driver

import (
	"math"

	"tiebreak/internal/base/drawing"
)

// The agent covers at most 5 units in an episode, from its start at y = −0.3.
const (
	southEnd = -5.6
	northEnd = 6.0
)

// scenery returns the road and the trees beside it, as far as a car can get.
func scenery() []drawing.Shape {
	const edge = 1.5 * laneWidth
	out := []drawing.Shape{
		{Kind: drawing.Polygon, Paint: drawing.Surface, Pts: []float64{
			-edge - 0.04, southEnd, edge + 0.04, southEnd, edge + 0.04, northEnd, -edge - 0.04, northEnd,
		}},
		line(-edge, southEnd, northEnd),
		line(edge, southEnd, northEnd),
	}
	const period = 0.4
	for i := 0; southEnd+float64(i)*period < northEnd; i++ {
		y := round(southEnd + float64(i)*period)
		out = append(out,
			line(-laneWidth/2, y, round(y+period/2)),
			line(laneWidth/2, y, round(y+period/2)))
	}
	return append(out, trees()...)
}

// line returns a mark along the road.
func line(x, from, to float64) drawing.Shape {
	return drawing.Shape{Kind: drawing.Polyline, Paint: drawing.Mark, Size: 0.012, Pts: []float64{x, from, x, to}}
}

// trees returns circles on both sides of the road, fewer farther off: the view
// of a car that has left the road still shows how it moves. Their places look
// irregular and are always the same.
func trees() []drawing.Shape {
	var out []drawing.Shape
	n := 0.0
	for _, column := range []struct{ x, spacing float64 }{{0.4, 0.6}, {0.8, 0.8}, {1.4, 1}, {2.1, 1.2}} {
		for _, side := range []float64{-1, 1} {
			for y := southEnd; y < northEnd; y += column.spacing {
				n++
				_, u := math.Modf(n * math.Phi) // of low discrepancy
				_, v := math.Modf(n * math.Sqrt2)
				out = append(out, drawing.Shape{
					Kind: drawing.Circle, Paint: drawing.Detail, Size: []float64{0.04, 0.07}[int(2*u)],
					Pts: []float64{round(side * (column.x + 0.4*u)), round(y + 0.5*column.spacing*v)},
				})
			}
		}
	}
	return out
}

// round keeps the digits of static points few, and with them the bytes of a clip.
func round(v float64) float64 { return math.Round(10*v) / 10 }
