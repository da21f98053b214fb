package gridworld

import "tiebreak/internal/idrl"

// A Layout is one instance of the gridworld. Cell s lies in column s mod 10 and
// row s div 10, row 0 at the top.
type Layout struct {
	Tiles [cells]int // what lies in each cell: 0 for floor, 1 to 10 for a type of object
	Walls [][2]int   // pairs of cells side by side with a wall between them
	Start int        // cell
}

// FromLayout returns the gridworld of l with the id "gridworld", at the start of
// an episode. Walls may be in any order. It returns an error of kind Invalid if
// a tile, a wall or the start is out of range. There may be any number of objects
// of a type, and the start may lie on one.
func FromLayout(l Layout) (*Env, error) {
	if l.Start < 0 || l.Start >= cells {
		return nil, idrl.Errorf(idrl.Invalid, "start %d is no cell; cells are 0 to %d", l.Start, cells-1)
	}
	for s, tile := range l.Tiles {
		if tile < floor || tile >= numTypes {
			return nil, idrl.Errorf(idrl.Invalid, "cell %d has type %d; types are 0 for floor and 1 to %d for objects", s, tile, numObjects)
		}
	}
	out := layout{tiles: l.Tiles, start: l.Start}
	for _, w := range l.Walls {
		a, ok := direction(w[0], w[1])
		if !ok {
			return nil, idrl.Errorf(idrl.Invalid, "a wall cannot stand between %d and %d, which are not cells side by side", w[0], w[1])
		}
		out.block(w[0], a)
	}
	return newEnv(ID, out), nil
}

// direction returns the move from cell s to cell t; ok is false if they are not
// cells side by side.
func direction(s, t int) (a int, ok bool) {
	if s < 0 || s >= cells {
		return 0, false
	}
	for a := range stay {
		if to, inside := neighbour(s, a); inside && to == t {
			return a, true
		}
	}
	return 0, false
}

// Layout returns the layout of e, a copy. In each wall the smaller cell comes
// first, and the walls are in lexical order.
func (e *Env) Layout() Layout {
	l := Layout{Tiles: e.layout.tiles, Start: e.layout.start}
	for s := range cells {
		for _, a := range []int{right, down} {
			if to, ok := neighbour(s, a); ok && e.layout.walls[s][a] {
				l.Walls = append(l.Walls, [2]int{s, to})
			}
		}
	}
	return l
}

// ObjectCells returns the cells with an object in ascending order, which is row
// by row from the top, each from the left.
func (e *Env) ObjectCells() []int {
	var out []int
	for s, tile := range e.layout.tiles {
		if tile != floor {
			out = append(out, s)
		}
	}
	return out
}
