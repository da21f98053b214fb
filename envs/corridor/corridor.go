package corridor

import "math"

// Facts of the corridor.
const (
	Cells      = 13              // in a row, counted from 0, where a robot starts
	Goal       = 6               // the cell in the middle
	FeatureDim = Cells * perCell // d
	perCell    = 3               // features of a cell: dx, dy and 1
)

// Maze is a corridor along the x axis whose cell 0 has its centre in the origin.
// Positions are those of the root of a robot.
type Maze struct {
	CellSize float64 // edge of a cell, in the unit of positions: 3 for Swimmer, 4 for Ant
}

// Cell returns the cell that holds the position. ok is false in a wall and
// beyond the walls, where the authors' code stops with an error.
func (m Maze) Cell(x, y float64) (cell int, ok bool) {
	column, row := m.index(x), m.index(y)
	if !(row == 0 && column >= 0 && column < Cells) { // so that NaN fails
		return 0, false
	}
	return int(column), true
}

// index returns the column or row of a coordinate; those of cell 0 are 0. It
// rounds as the authors' code does, which counts from the wall.
func (m Maze) index(v float64) float64 { return math.Floor((v+1.5*m.CellSize)/m.CellSize) - 1 }

// Enter returns the position after a step from (x0, y0) to (x1, y1): if that is in
// a wall, the position before the step. Velocities do not change.
func (m Maze) Enter(x0, y0, x1, y1 float64) (x, y float64) {
	if _, ok := m.Cell(x1, y1); !ok {
		return x0, y0
	}
	return x1, y1
}

// Features stores φ of a step from (x0, y0) to (x1, y1) in dst, whose length is
// FeatureDim, and returns it; nil allocates. In the block of the cell that holds
// (x1, y1) it is (x1 − x0, y1 − y0, 1), elsewhere 0. It panics if dst has the
// wrong length or (x1, y1) does not lie in a cell: use Enter first.
func (m Maze) Features(dst []float64, x0, y0, x1, y1 float64) []float64 {
	if dst == nil {
		dst = make([]float64, FeatureDim)
	}
	if len(dst) != FeatureDim {
		panic("corridor: destination has the wrong length")
	}
	cell, ok := m.Cell(x1, y1)
	if !ok {
		panic("corridor: the step ends in a wall")
	}
	clear(dst)
	dst[perCell*cell], dst[perCell*cell+1], dst[perCell*cell+2] = x1-x0, y1-y0, 1
	return dst
}
