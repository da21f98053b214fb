package chain

import (
	"fmt"
	"math"
	"strconv"

	"tiebreak/envs/internal/board"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

// ID names the environment in the catalogue.
const ID = "chain"

// Actions. In blocked states both go right.
const (
	left = iota
	right
	numActions
)

const (
	lengthScale = 3.0 // of the kernel, states
	maxStates   = 200

	// nugget is added to the kernel's diagonal before that is scaled back to 1.
	// The smallest eigenvalue of the squared exponential alone is 9.5e-13 for 20
	// states, and lost in rounding from about 40 on.
	nugget = 1e-12
)

// Config sets the size of a chain.
type Config struct {
	States  int // number of states, 2 to 200; default 20
	Blocked int // number of states, the first ones, in which both actions go right; 1 to States-1; default 10
}

// withDefaults returns c with its defaults. It panics if c is out of range.
func (c Config) withDefaults() Config {
	if c.States == 0 {
		c.States = 20
	}
	if c.Blocked == 0 {
		c.Blocked = 10
	}
	if c.States < 2 || c.States > maxStates {
		panic("chain: States must be 2 to 200")
	}
	if c.Blocked < 1 || c.Blocked >= c.States {
		panic("chain: Blocked must be 1 to States-1")
	}
	return c
}

// Env is a chain. State s is the agent on field s+1, counted from the left; the
// observation is s. Actions are left and right: in the blocked states both go
// right, and right stays in the last state. Features are one-hot over the state
// entered.
type Env struct {
	*board.Env
	c Config
}

var (
	_ idrl.Tabular   = (*Env)(nil)
	_ drawing.Drawer = (*Env)(nil)
	_ drawing.Namer  = (*Env)(nil)
)

// New returns a chain. It panics if c is out of range.
func New(c Config) *Env {
	c = c.withDefaults()
	labels := make([]string, c.States)
	for s := range labels {
		labels[s] = strconv.Itoa(s + 1)
	}
	return &Env{c: c, Env: board.New(board.Config{
		ID: ID, Labels: labels, Actions: numActions,
		Purpose: "The farther along the chain the agent gets, the better: high numbers are good.",
		Purposes: []drawing.LegendEntry{
			{Name: "far", Text: "The farther along the chain the agent gets, the better: high numbers are good."},
			{Name: "near", Text: "The agent should stay near the beginning of the chain: low numbers are good."},
		},
		Look: []string{
			"Which numbers does the agent pass, and on which is it at the end?",
			fmt.Sprintf("Up to field %d it is carried on and has no choice: judge what comes after.", c.Blocked),
		},
		Next: c.next, Kernel: kernel, Place: c.place,
	})}
}

// next returns the state after action a in state s.
func (c Config) next(s, a int) []int {
	if s >= c.Blocked && a == left {
		return []int{s - 1}
	}
	return []int{min(s+1, c.States-1)}
}

// kernel returns the prior correlation of the rewards of two states: the
// squared exponential of the paper on their distance along the chain, with a
// nugget that keeps the matrix positive definite.
func kernel(s, t int) float64 {
	if s == t {
		return 1
	}
	d := float64(s-t) / lengthScale
	return math.Exp(-0.5*d*d) / (1 + nugget)
}

// place lays the chain in rows that run to and fro, a little more columns than
// rows, so that it is large on a page.
func (c Config) place(s int) (x, y float64) {
	const pitch = 1.4
	columns := int(math.Ceil(math.Sqrt(1.25 * float64(c.States))))
	row, column := s/columns, s%columns
	if row%2 == 1 {
		column = columns - 1 - column
	}
	return pitch * float64(column), -pitch * float64(row)
}
