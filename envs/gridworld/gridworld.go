package gridworld

import (
	"cmp"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

// Names of the environment in the catalogue.
const (
	ID     = "gridworld"      // walls as in the paper's text
	CodeID = "gridworld-code" // walls as in the authors' code: Config.WallTosses is 2
)

const (
	side    = 10 // cells along an edge
	cells   = side * side
	horizon = 100
)

// Actions.
const (
	left = iota
	right
	up
	down
	stay
	numActions
)

// Config sets how a layout is drawn.
type Config struct {
	ID string // of the environment's spec; default ID, "gridworld"

	// WallTosses says how often a coin with probability 0.3 is tossed for a
	// wall between two cells: once, as in the paper's text, or twice, as in the
	// authors' code, which makes walls with probability 0.51. Default 1.
	WallTosses int

	// MinReachable is the least number of cells, of 100, that can be reached
	// from the start; layouts are drawn until one has it. 0 to 50, default 0, as
	// in the paper: then walls may enclose the start, and all policies are equal.
	MinReachable int
}

// Env is a gridworld. It draws no random numbers once built. State s is the
// cell in column s mod 10 and row s div 10, row 0 at the top; the observation
// is s. Actions are left, right, up, down and stay; a move against a wall or
// the edge stays. Features are one-hot over the type of the cell entered: the
// floor, then object types A to J.
type Env struct {
	id     string
	layout layout
	static []drawing.Shape // what does not move; nil until first drawn

	state int
	t     int // steps taken
	obs   [1]float64
	phi   [numTypes]float64
}

var (
	_ idrl.Tabular   = (*Env)(nil)
	_ drawing.Guided = (*Env)(nil)
	_ drawing.Drawer = (*Env)(nil)
	_ drawing.Namer  = (*Env)(nil)
)

// New returns a gridworld with a layout drawn from the stream, at the start of
// an episode. It panics if c is out of range.
func New(c Config, stream *rand.Rand) *Env {
	tosses := c.WallTosses
	if tosses == 0 {
		tosses = 1
	}
	if tosses < 1 || tosses > 2 {
		panic("gridworld: WallTosses must be 1 or 2")
	}
	if c.MinReachable < 0 || c.MinReachable > cells/2 {
		panic("gridworld: MinReachable must be 0 to 50")
	}
	l := newLayout(tosses, stream)
	for l.reachable() < c.MinReachable {
		l = newLayout(tosses, stream)
	}
	return newEnv(cmp.Or(c.ID, ID), l)
}

// newEnv returns the gridworld of a layout at the start of an episode.
func newEnv(id string, l layout) *Env {
	return &Env{id: id, layout: l, state: l.start}
}

// Spec describes the environment.
func (e *Env) Spec() idrl.EnvSpec {
	names := []string{"Floor"}
	for k := range numObjects {
		names = append(names, "Object "+letter(k))
	}
	return idrl.EnvSpec{
		ID:           e.id,
		Actions:      idrl.ActionSpec{Num: numActions},
		ObsDim:       1,
		FeatureNames: names,
		StepSeconds:  0.15, // so that a clip lasts three seconds
		Horizon:      horizon,
		Discount:     0.99,
		ClipSteps:    20,
		Playback:     1,
		StillLabel:   "standing here",
	}
}

// Reset starts an episode in the start cell of the layout. It does not use the
// stream.
func (e *Env) Reset(*rand.Rand) idrl.TimeStep {
	e.state, e.t = e.layout.start, 0
	return idrl.TimeStep{Kind: idrl.First, Obs: e.observe()}
}

// Step takes one of the five actions.
func (e *Env) Step(a idrl.Action) idrl.TimeStep {
	if e.t >= horizon {
		panic("gridworld: the episode has ended")
	}
	if !(idrl.ActionSpec{Num: numActions}).Contains(a) {
		panic("gridworld: an action is an index from 0 to 4")
	}
	e.state = e.layout.next(e.state, int(a[0]))
	e.t++
	e.phi = [numTypes]float64{}
	e.phi[e.layout.tiles[e.state]] = 1
	kind := idrl.Mid
	if e.t == horizon {
		kind = idrl.Truncated
	}
	return idrl.TimeStep{Kind: kind, Obs: e.observe(), Phi: e.phi[:]}
}

// Snapshot appends the state and the steps taken to dst[:0] and returns it.
func (e *Env) Snapshot(dst []float64) []float64 {
	return append(dst[:0], float64(e.state), float64(e.t))
}

// Restore returns to a state that Snapshot returned.
func (e *Env) Restore(s []float64) {
	if len(s) != 2 || !(s[0] >= 0 && s[0] < cells && s[1] >= 0 && s[1] <= horizon) {
		panic("gridworld: not a snapshot of this environment")
	}
	e.state, e.t = int(s[0]), int(s[1])
}

// NumStates returns the number of cells.
func (e *Env) NumStates() int { return cells }

// Transition stores P(·|s,a) in dst and returns it.
func (e *Env) Transition(dst []float64, s, a int) []float64 {
	dst = zeroed(dst)
	dst[e.layout.next(s, a)] = 1
	return dst
}

// Start stores the distribution of the first state in dst and returns it.
func (e *Env) Start(dst []float64) []float64 {
	dst = zeroed(dst)
	dst[e.layout.start] = 1
	return dst
}

// Features stores φ of every state in dst, 100×11.
func (e *Env) Features(dst *mat.Dense) {
	dst.Zero()
	for s, tile := range e.layout.tiles {
		dst.Set(s, tile, 1)
	}
}

// Kernel stores the prior correlation of the weights in dst, 11×11: the
// authors' squared exponential with length scale 1 on one-hot types, two of
// which lie √2 apart.
func (e *Env) Kernel(dst *mat.SymDense) {
	for i := range numTypes {
		for j := i; j < numTypes; j++ {
			dst.SetSym(i, j, math.Exp(-1))
		}
		dst.SetSym(i, i, 1)
	}
}

func (e *Env) observe() []float64 {
	e.obs[0] = float64(e.state)
	return e.obs[:]
}

// zeroed returns dst filled with zeros, allocated if nil.
func zeroed(dst []float64) []float64 {
	if dst == nil {
		return make([]float64, cells)
	}
	if len(dst) != cells {
		panic("gridworld: destination has the wrong length")
	}
	clear(dst)
	return dst
}
