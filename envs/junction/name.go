package junction

import "tiebreak/internal/base/drawing"

// Name returns which branch the agent is in at the end, and whether it came in there early. Where in
// a branch it walks is chance.
func (e *Env) Name(states [][]float64) drawing.Happening {
	from, _, _ := e.c.branch(int(states[0][0]))
	in, which, _ := e.c.branch(int(states[len(states)-1][0]))
	branch := "branch " + string(rune('A'+which))
	still := len(states) == 1
	there := 0 // states in a branch
	for _, s := range states {
		if in, _, _ := e.c.branch(int(s[0])); in {
			there++
		}
	}
	switch {
	case still && !in:
		return drawing.Happening{Name: "stands in the corridor"}
	case still:
		return drawing.Happening{Name: "stands in " + branch}
	case !in:
		return drawing.Happening{Name: "walks along the corridor"}
	case from:
		return drawing.Happening{Name: "stays in " + branch}
	}
	if 2*there < len(states) {
		return drawing.Happening{Name: "comes to " + branch + " late"}
	}
	return drawing.Happening{Name: "turns into " + branch}
}
