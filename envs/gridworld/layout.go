package gridworld

import "math/rand/v2"

const (
	numObjects = 10 // types of object
	instances  = 2  // of each type
	numTypes   = 1 + numObjects
	floor      = 0 // type of a cell without an object; object k has type 1+k
	wallProb   = 0.3
)

// layout is one instance of the gridworld.
type layout struct {
	tiles [cells]int        // type of each cell
	walls [cells][stay]bool // whether a wall stops a move; symmetric; not the edge
	start int
}

// newLayout draws a layout: objects one after another in cells still empty, then
// the start in an empty cell, then the walls.
func newLayout(tosses int, stream *rand.Rand) layout {
	var l layout
	for k := range numObjects {
		for range instances {
			l.tiles[l.emptyCell(stream)] = 1 + k
		}
	}
	l.start = l.emptyCell(stream)
	for s := range cells {
		for _, a := range []int{right, down} {
			if _, ok := neighbour(s, a); !ok {
				continue
			}
			for range tosses {
				if stream.Float64() < wallProb {
					l.block(s, a)
				}
			}
		}
	}
	return l
}

// block puts a wall on the side of cell s that move a crosses, which must not be
// the edge of the floor.
func (l *layout) block(s, a int) {
	to, _ := neighbour(s, a)
	l.walls[s][a], l.walls[to][opposite(a)] = true, true
}

// reachable returns the number of cells that can be reached from the start,
// the start included.
func (l *layout) reachable() int {
	var seen [cells]bool
	seen[l.start] = true
	for queue := []int{l.start}; len(queue) > 0; queue = queue[1:] {
		for _, a := range []int{left, right, up, down} {
			if to := l.next(queue[0], a); !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	n := 0
	for _, s := range seen {
		if s {
			n++
		}
	}
	return n
}

// emptyCell draws a cell without an object.
func (l *layout) emptyCell(stream *rand.Rand) int {
	for {
		if s := stream.IntN(cells); l.tiles[s] == floor {
			return s
		}
	}
}

// next returns the state after action a in state s.
func (l *layout) next(s, a int) int {
	if a == stay || l.walls[s][a] {
		return s
	}
	if to, ok := neighbour(s, a); ok {
		return to
	}
	return s
}

// neighbour returns the cell beside s in the direction of move a; ok is false
// at the edge.
func neighbour(s, a int) (to int, ok bool) {
	x, y := s%side, s/side
	switch a {
	case left:
		x--
	case right:
		x++
	case up:
		y--
	case down:
		y++
	}
	return x + side*y, x >= 0 && x < side && y >= 0 && y < side
}

// opposite returns the move that undoes move a.
func opposite(a int) int { return a ^ 1 }

// letter names object type k, from 0.
func letter(k int) string { return string(rune('A' + k)) }
