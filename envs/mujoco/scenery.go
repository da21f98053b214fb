package mujoco

import (
	"math"
	"strconv"

	"tiebreak/envs/corridor"
	"tiebreak/internal/base/drawing"
)

// checker returns a floor through the point at.
func checker(tile float64, at ...float64) drawing.Shape {
	return drawing.Shape{Kind: drawing.Checker, Paint: drawing.Surface, Size: tile, Pts: at}
}

// cells returns the cells of a corridor on a floor at height z: their outlines
// and numbers, the goal in a paint of its own, and walls at the far side and at
// the end. All of them are drawn before the robot, which nothing hides.
//
// A wall stops the root of a robot at the end of a step. Walls are drawn farther out by reach, metres, the
// distance of other parts of the robot from its root, so that it does not appear inside them.
func cells(m corridor.Maze, reach, z float64) []drawing.Shape {
	r, side := m.CellSize/2, m.CellSize/2+reach
	start, end := -side, m.CellSize*(corridor.Cells-1)+side
	goal := m.CellSize * corridor.Goal
	across := drawing.Shape{Kind: drawing.Polyline, Paint: drawing.Wall, Size: m.CellSize / 80} // there and back at every second cell
	numbers := make([]drawing.Shape, corridor.Cells)
	for c := range numbers {
		x, y := m.CellSize*float64(c), side
		if c%2 == 1 {
			y = -side
		}
		left := x - r
		if c == 0 {
			left = start
		}
		across.Pts = append(across.Pts, left, -y, z, left, y, z)
		numbers[c] = drawing.Shape{Kind: drawing.Text, Paint: drawing.Ink, Size: m.CellSize / 8, Pts: []float64{x, -0.75 * r, z}, Text: strconv.Itoa(c + 1)}
	}
	return append(numbers,
		drawing.Shape{Kind: drawing.Polygon, Paint: drawing.Object3, Pts: square(goal, 0, z, r, side)},
		across,
		drawing.Shape{Kind: drawing.Polyline, Paint: drawing.Wall, Size: m.CellSize / 40, Pts: []float64{start, -side, z, end, -side, z}},
		wall(start, side, end, side, z, wallHeight*m.CellSize),
		wall(end, side, end, -side, z, wallHeight*m.CellSize),
	)
}

const wallHeight = 0.07 // of the edge of a cell: low, so that a robot near it does not seem to stand in it

// wall returns the face of a wall from (x0, y0) to (x1, y1) on a floor at height z.
func wall(x0, y0, x1, y1, z, high float64) drawing.Shape {
	return drawing.Shape{Kind: drawing.Polygon, Paint: drawing.Wall, Pts: []float64{x0, y0, z, x1, y1, z, x1, y1, z + high, x0, y0, z + high}}
}

// pointer returns an arrow on the floor of a corridor that points to the goal: near the edge
// of the view, or in the goal where that is in view.
func pointer(m corridor.Maze, c drawing.Camera, z float64) drawing.Shape {
	goal, reach, size := m.CellSize*corridor.Goal, 0.34*c.W, 0.06*c.W
	ahead := 1.0
	if c.X > goal {
		ahead = -1
	}
	tip := c.X + ahead*min(math.Abs(goal-c.X), reach)
	x := func(back float64) float64 { return tip - ahead*back*size }
	y := 0.6 * m.CellSize / 2 // beside the way of the robot
	return drawing.Shape{Kind: drawing.Polygon, Paint: drawing.Focus, Pts: []float64{
		x(0), y, z, x(1), y + 0.6*size, z, x(1), y + 0.22*size, z, x(2.4), y + 0.22*size, z,
		x(2.4), y - 0.22*size, z, x(1), y - 0.22*size, z, x(1), y - 0.6*size, z,
	}}
}

// square returns the corners of a level rectangle with half edges rx and ry.
func square(x, y, z, rx, ry float64) []float64 {
	return []float64{x - rx, y - ry, z, x + rx, y - ry, z, x + rx, y + ry, z, x - rx, y + ry, z}
}

// ring closes a line.
func ring(pts []float64) []float64 { return append(pts, pts[:3]...) }

// circle returns the corners of a level regular polygon.
func circle(x, y, z, r float64, corners int) (out []float64) {
	for k := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(corners))
		out = append(out, x+r*cos, y+r*sin, z)
	}
	return out
}
