package chain

import (
	"fmt"

	"tiebreak/internal/base/drawing"
)

// Name returns the place on the chain that the agent gets to; of two fields between which it goes to
// and fro it takes the higher one. The fields with a choice are divided into five places, because
// people do not distinguish neighbouring fields.
func (e *Env) Name(states [][]float64) drawing.Happening {
	n := len(states)
	last := int(states[n-1][0])
	end := last == e.c.States-1
	fro := !end && n > 2 && states[n-3][0] == states[n-1][0]
	if fro {
		last = max(last, int(states[n-2][0]))
	}
	place := e.c.region(last)
	switch {
	case n == 1:
		return drawing.Happening{Name: "stands on " + place}
	case last < e.c.Blocked:
		return drawing.Happening{Name: "is carried on"}
	case end && states[0][0] == states[n-1][0]:
		return drawing.Happening{Name: "stays at the end"}
	case end:
		return drawing.Happening{Name: "goes to the end"}
	case fro:
		return drawing.Happening{Name: "goes to and fro on " + place}
	}
	return drawing.Happening{Name: "walks to " + place}
}

// region names the place on the chain of state s.
func (c Config) region(s int) string {
	first, last := 0, c.Blocked-1
	if s >= c.Blocked {
		size := (c.States - c.Blocked + 4) / 5
		first = c.Blocked + (s-c.Blocked)/size*size
		last = min(first+size, c.States) - 1
	}
	if first == last {
		return fmt.Sprint(first + 1)
	}
	return fmt.Sprintf("%d to %d", first+1, last+1)
}
