package junction

import (
	"math"
	"strconv"

	"tiebreak/envs/internal/board"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

// ID names the environment in the catalogue.
const ID = "junction"

// numActions is the number of actions: into branch A and into branch B.
const numActions = 2

const (
	lengthScale = 3.0 // of the kernel, steps on the graph
	maxLength   = 100
)

// Config sets the size of a junction.
type Config struct {
	Corridor int // states of the corridor, N in the paper; 1 to 100, default 15
	Branch   int // states of each branch, M in the paper; 1 to 100, default 5
}

// withDefaults returns c with its defaults. It panics if c is out of range.
func (c Config) withDefaults() Config {
	if c.Corridor == 0 {
		c.Corridor = 15
	}
	if c.Branch == 0 {
		c.Branch = 5
	}
	if c.Corridor < 1 || c.Corridor > maxLength || c.Branch < 1 || c.Branch > maxLength {
		panic("junction: Corridor and Branch must be 1 to 100")
	}
	return c
}

func (c Config) states() int { return c.Corridor + 2*c.Branch }

// fork returns the last state of the corridor, the only one with a choice.
func (c Config) fork() int { return c.Corridor - 1 }

// Env is a junction. States 0 to N-1 are the corridor, then follow the M states
// of branch A, which action 0 enters, and those of branch B, which action 1
// enters, from the fork outwards; the observation is the state. Features are
// one-hot over the state entered.
type Env struct {
	*board.Env
	c Config
}

var (
	_ idrl.Tabular   = (*Env)(nil)
	_ drawing.Drawer = (*Env)(nil)
	_ drawing.Namer  = (*Env)(nil)
)

// New returns a junction. It panics if c is out of range.
func New(c Config) *Env {
	c = c.withDefaults()
	labels := make([]string, c.states())
	for s := range labels {
		labels[s] = c.label(s)
	}
	return &Env{c: c, Env: board.New(board.Config{
		ID: ID, Labels: labels, Actions: numActions,
		Purpose: "The agent should turn into branch A, and stay out of branch B.",
		Purposes: []drawing.LegendEntry{
			{Name: "branch-a", Text: "The agent should turn into branch A, and stay out of branch B."},
			{Name: "branch-b", Text: "The agent should turn into branch B, and stay out of branch A."},
		},
		Look: []string{
			"Does the agent turn into branch A or into branch B?",
			"In a branch it walks at random: judge where it is, not how it walks.",
		},
		Next: c.next, Kernel: c.kernel, Place: c.place,
	})}
}

// branch returns whether s is in a branch, in which one (0 is A), and the
// number of states of that branch before it.
func (c Config) branch(s int) (in bool, which, before int) {
	if s < c.Corridor {
		return false, 0, 0
	}
	return true, (s - c.Corridor) / c.Branch, (s - c.Corridor) % c.Branch
}

// label returns the name of state s: 1 to N, A1 to AM, B1 to BM.
func (c Config) label(s int) string {
	if in, which, before := c.branch(s); in {
		return string(rune('A'+which)) + strconv.Itoa(before+1)
	}
	return strconv.Itoa(s + 1)
}

// next returns the states that action a may enter from state s, each with equal
// probability. A walk stays where it is instead of leaving its branch.
func (c Config) next(s, a int) []int {
	in, _, before := c.branch(s)
	switch {
	case s == c.fork():
		return []int{c.Corridor + a*c.Branch}
	case !in:
		return []int{s + 1}
	}
	first := s - before
	return []int{max(s-1, first), min(s+1, first+c.Branch-1)}
}

// Distance returns the number of steps on the shortest way from s to t along
// the graph of the junction, whatever the direction of its edges; 0 if s is t.
// It panics if c or a state is out of range.
func Distance(c Config, s, t int) int {
	c = c.withDefaults()
	if min(s, t) < 0 || max(s, t) >= c.states() {
		panic("junction: no such state")
	}
	return c.distance(s, t)
}

func (c Config) distance(s, t int) int {
	s, t = min(s, t), max(s, t)
	b := c.Corridor + c.Branch // first state of branch B
	if t < b || s >= b {       // no turn at the fork
		return t - s
	}
	return max(s-c.fork(), c.fork()-s) + 1 + t - b
}

// kernel returns the prior correlation of the rewards of two states at distance
// d:
//
//	k(s, t) = exp(−((d+1)² − 1) / (2·3²))
//
// This is the kernel of the authors' code, exp(−(d+1)²/(2·3²)), divided by its
// value at d = 0. The kernel in the paper's text, exp(−d²/(2·3²)), is no kernel:
// on a graph with a fork its matrix has negative eigenvalues (−0.052 for the
// default sizes). The smallest eigenvalue of this one is 0.040.
func (c Config) kernel(s, t int) float64 {
	d := float64(c.distance(s, t)) + 1
	return math.Exp(-0.5 * (d*d - 1) / (lengthScale * lengthScale))
}

// place lays the corridor in two rows, to the right and back, above the
// branches, which run to the right side by side from the fork at their left.
func (c Config) place(s int) (x, y float64) {
	const (
		pitch     = 1.4
		forkRow   = 2.5
		branchRow = 2 // of branch A
	)
	columns := c.Corridor / 2 // of the second row
	first := c.fork() - columns
	column, row := float64(columns-first+s), 0.0
	in, which, before := c.branch(s)
	switch {
	case in:
		column, row = float64(before+1), float64(branchRow+which)
	case s == c.fork():
		column, row = 0, forkRow
	case s >= first:
		column, row = float64(c.fork()-1-s), 1
	}
	return pitch * column, -pitch * row
}
