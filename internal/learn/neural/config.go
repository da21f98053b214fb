package neural

import (
	"math"
	"slices"

	"tiebreak/internal/base/nn"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
)

// Mode says which objective is minimised. Source: docs/paper-code.md, section 6.
type Mode string

// Modes.
const (
	// Corrected minimises one objective, that of the paper's text, until it has
	// converged, and takes its second derivatives for the posterior.
	Corrected Mode = "corrected"

	// Anchored is Corrected, except that the penalty pulls the weights of hidden layers
	// towards the initial drawn ones instead of zero. So features about which answers have
	// no information remain, and with them the uncertainty about rewards that differ in
	// these. It always begins with drawn weights.
	Anchored Mode = "anchored"

	// Paper trains as the authors' code does.
	Paper Mode = "paper"
)

// Modes returns all modes, the default first.
func Modes() []Mode { return []Mode{Corrected, Anchored, Paper} }

// Config has the settings of a model and its training.
type Config struct {
	ObsDim, ActDim int // numbers of an observation and of an action; ObsDim is required, ActDim may be 0

	Mode   Mode    // default Corrected
	Hidden []int   // widths of the hidden layers; default 64, 64
	Slope  float32 // of the leaky ReLU below zero, in [0, 1); default 0.01
	Lambda float64 // λ of the penalty λ‖w‖², > 0; default 0.5

	Comparison idrl.Likelihood // of the answer to a comparison; default belief.BradleyTerry{Beta: 1}
	Rating     idrl.Likelihood // of the answer to a rating; required if one is given

	people map[idrl.AnnotatorID]idrl.Likelihood // of comparisons by those whose answers are not as Comparison says

	Updates int // of the weights in one training at most, in Corrected; default 4000
}

// withDefaults returns c with its zeros filled in.
func (c Config) withDefaults() Config {
	if c.Mode == "" {
		c.Mode = Corrected
	}
	if c.Hidden == nil {
		c.Hidden = []int{64, 64}
	}
	if c.Slope == 0 {
		c.Slope = 0.01
	}
	if c.Lambda == 0 {
		c.Lambda = 0.5
	}
	if c.Comparison == nil {
		c.Comparison = belief.BradleyTerry{Beta: 1}
	}
	if c.Updates == 0 {
		c.Updates = 4000
	}
	return c
}

// Limits of a network.
const (
	maxWidth  = 4096 // numbers of an input, and units of a layer
	maxLayers = 8    // hidden
)

// check returns an error of kind Invalid that says what to change.
func (c Config) check() error {
	wrong := func(n int) bool { return n < 1 || n > maxWidth }
	switch {
	case c.ObsDim < 1 || c.ActDim < 0 || wrong(c.ObsDim+c.ActDim):
		return idrl.Errorf(idrl.Invalid, "a reward network needs 1 to %d inputs; got %d numbers of an observation and %d of an action", maxWidth, c.ObsDim, c.ActDim)
	case !slices.Contains(Modes(), c.Mode):
		return idrl.Errorf(idrl.Invalid, "unknown mode %q of a reward network; known: %s, %s, %s", c.Mode, Corrected, Anchored, Paper)
	case len(c.Hidden) == 0 || len(c.Hidden) > maxLayers || slices.ContainsFunc(c.Hidden, wrong):
		return idrl.Errorf(idrl.Invalid, "a reward network needs 1 to %d hidden layers of 1 to %d units; got %v", maxLayers, maxWidth, c.Hidden)
	case !(c.Slope >= 0 && c.Slope < 1):
		return idrl.Errorf(idrl.Invalid, "the slope of the leaky ReLU must be 0 or more and below 1; got %v", c.Slope)
	case !(c.Lambda > 0) || math.IsInf(c.Lambda, 1):
		return idrl.Errorf(idrl.Invalid, "λ must be a positive number; got %v", c.Lambda)
	case c.Updates < 0:
		return idrl.Errorf(idrl.Invalid, "a training cannot have %d updates", c.Updates)
	}
	return nil
}

// inputs returns the width of an input: an observation and the action taken on it.
func (c Config) inputs() int { return c.ObsDim + c.ActDim }

// features returns d, the width of the last hidden layer.
func (c Config) features() int { return c.Hidden[len(c.Hidden)-1] }

// sizes returns the widths of all layers.
func (c Config) sizes() []int { return append(append([]int{c.inputs()}, c.Hidden...), 1) }

// precision returns that of the prior of a weight of the last layer. The second derivative
// of λ‖w‖² is 2λ, where the authors' code has λ.
func (c Config) precision() float64 {
	if c.Mode == Paper {
		return c.Lambda
	}
	return 2 * c.Lambda
}

// likelihood returns the model of the answer of who to a question of a kind; nil if there is none.
func (c Config) likelihood(k idrl.QueryKind, who idrl.AnnotatorID) idrl.Likelihood {
	if !k.Comparison() {
		return c.Rating
	}
	if l, ok := c.people[who]; ok {
		return l
	}
	return c.Comparison
}

// network returns a network whose weights are zero.
func (c Config) network() (*nn.Net, error) {
	return nn.New(nn.Config{Sizes: c.sizes(), Slope: c.Slope})
}
