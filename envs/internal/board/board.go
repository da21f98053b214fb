package board

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

const horizon = 100

// Config describes a board. All of it is required.
type Config struct {
	ID      string   // of the environment
	Labels  []string // drawn on the fields, length n; feature s is called "Field " and label s
	Actions int      // number of actions
	Purpose string   // of the drawing.Guide
	Look    []string // the same

	Purposes []drawing.LegendEntry // the same

	// Next returns the fields that action a may enter from field s, each with
	// equal probability.
	Next func(s, a int) []int

	// Kernel returns the prior correlation of the rewards of two fields.
	Kernel func(s, t int) float64

	// Place returns the middle of field s, world units. Fields are about one
	// unit wide.
	Place func(s int) (x, y float64)
}

// Env is an environment on a board of n fields. State s is the agent on field
// s; the observation is s. Features are one-hot over the field entered, d = n.
// A snapshot is the state and the number of steps taken; it does not hold the
// stream, from which a step draws if it has more than one outcome.
type Env struct {
	cfg    Config
	next   [][]int         // next[s·actions+a] is Next(s, a)
	static []drawing.Shape // what does not move; nil until first drawn

	stream *rand.Rand // of the episode; nil before the first Reset
	state  int
	t      int // steps taken
	obs    [1]float64
	phi    []float64
}

var (
	_ idrl.Tabular   = (*Env)(nil)
	_ drawing.Drawer = (*Env)(nil)
	_ drawing.Guided = (*Env)(nil)
)

// New returns the environment on a board, with the agent on field 0.
func New(c Config) *Env {
	e := &Env{cfg: c, phi: make([]float64, len(c.Labels))}
	for s := range c.Labels {
		for a := range c.Actions {
			e.next = append(e.next, c.Next(s, a))
		}
	}
	return e
}

// Spec describes the environment.
func (e *Env) Spec() idrl.EnvSpec {
	names := make([]string, len(e.cfg.Labels))
	for s, label := range e.cfg.Labels {
		names[s] = "Field " + label
	}
	return idrl.EnvSpec{
		ID:           e.cfg.ID,
		Actions:      idrl.ActionSpec{Num: e.cfg.Actions},
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

// Reset starts an episode on a field drawn uniformly from the stream.
func (e *Env) Reset(stream *rand.Rand) idrl.TimeStep {
	e.stream = stream
	e.state, e.t = stream.IntN(e.NumStates()), 0
	return idrl.TimeStep{Kind: idrl.First, Obs: e.observe()}
}

// Step takes an action. Only if it has more than one outcome does it draw from
// the stream of the last Reset, without which it then panics.
func (e *Env) Step(a idrl.Action) idrl.TimeStep {
	if e.t >= horizon {
		panic(e.cfg.ID + ": the episode has ended")
	}
	if !(idrl.ActionSpec{Num: e.cfg.Actions}).Contains(a) {
		panic(e.cfg.ID + ": an action is the index of one of its actions")
	}
	e.state = e.draw(e.outcomes(e.state, int(a[0])))
	e.t++
	clear(e.phi)
	e.phi[e.state] = 1
	kind := idrl.Mid
	if e.t == horizon {
		kind = idrl.Truncated
	}
	return idrl.TimeStep{Kind: kind, Obs: e.observe(), Phi: e.phi}
}

// draw returns one of the fields, each with equal probability.
func (e *Env) draw(fields []int) int {
	if len(fields) == 1 {
		return fields[0]
	}
	if e.stream == nil {
		panic(e.cfg.ID + ": a random step needs the stream of Reset")
	}
	return fields[e.stream.IntN(len(fields))]
}

// outcomes returns the fields that action a may enter from field s.
func (e *Env) outcomes(s, a int) []int { return e.next[s*e.cfg.Actions+a] }

// Snapshot appends the state and the steps taken to dst[:0] and returns it.
func (e *Env) Snapshot(dst []float64) []float64 {
	return append(dst[:0], float64(e.state), float64(e.t))
}

// Restore returns to a state that Snapshot returned. Later steps draw from the
// stream of the last Reset, wherever that stream is.
func (e *Env) Restore(s []float64) {
	if len(s) != 2 || !(s[0] >= 0 && s[0] < float64(e.NumStates()) && s[1] >= 0 && s[1] <= horizon) {
		panic(e.cfg.ID + ": not a snapshot of this environment")
	}
	e.state, e.t = int(s[0]), int(s[1])
}

// NumStates returns the number of fields.
func (e *Env) NumStates() int { return len(e.cfg.Labels) }

// Transition stores P(·|s,a) in dst and returns it.
func (e *Env) Transition(dst []float64, s, a int) []float64 {
	dst = e.zeroed(dst)
	fields := e.outcomes(s, a)
	for _, to := range fields {
		dst[to] += 1 / float64(len(fields))
	}
	return dst
}

// Start stores the distribution of the first state in dst and returns it.
func (e *Env) Start(dst []float64) []float64 {
	dst = e.zeroed(dst)
	for s := range dst {
		dst[s] = 1 / float64(len(dst))
	}
	return dst
}

// Features stores φ of every state in dst, n×n: the identity.
func (e *Env) Features(dst *mat.Dense) {
	dst.Zero()
	for s := range e.NumStates() {
		dst.Set(s, s, 1)
	}
}

// Kernel stores the prior correlation of the weights in dst, n×n.
func (e *Env) Kernel(dst *mat.SymDense) {
	for s := range e.NumStates() {
		for t := range s + 1 {
			dst.SetSym(s, t, e.cfg.Kernel(s, t))
		}
	}
}

func (e *Env) observe() []float64 {
	e.obs[0] = float64(e.state)
	return e.obs[:]
}

// zeroed returns dst, of length n, filled with zeros; allocated if nil.
func (e *Env) zeroed(dst []float64) []float64 {
	if dst == nil {
		return make([]float64, e.NumStates())
	}
	if len(dst) != e.NumStates() {
		panic(e.cfg.ID + ": destination has the wrong length")
	}
	clear(dst)
	return dst
}

// leads reports whether some action may enter field t from field s.
func (e *Env) leads(s, t int) bool {
	for a := range e.cfg.Actions {
		if slices.Contains(e.outcomes(s, a), t) {
			return true
		}
	}
	return false
}
