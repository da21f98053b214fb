package gridworld

import "tiebreak/internal/base/drawing"

// settled is the number of last states in one cell from which on an agent is at rest.
const settled = 3

// Name returns the field on which the agent comes to rest, or says that it stays there all the time, or
// that it walks to the end.
func (e *Env) Name(states [][]float64) drawing.Happening {
	n := len(states)
	last := states[n-1][0]
	rest := 0 // states at the end in the last cell
	for rest < n && states[n-1-rest][0] == last {
		rest++
	}
	on := "the bare floor"
	tile := e.layout.tiles[int(last)]
	if tile != floor {
		on = letter(tile - 1)
	}
	switch {
	case n == 1:
		return drawing.Happening{Name: "stands on " + on}
	case rest == n:
		return drawing.Happening{Name: "stays on " + on, Useless: tile == floor}
	case rest < settled:
		return drawing.Happening{Name: "walks all the time"}
	}
	return drawing.Happening{Name: "goes to " + on}
}
