package idrl

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// An Environment is a Markov decision process without a reward. It emits
// features φ(s,a); the reward is what the project learns, so no method returns
// one. The true reward of a benchmark belongs to a sim.Task.
//
// An Environment is used by one goroutine at a time.
type Environment interface {
	// Spec describes the environment. It is constant and may be called before Reset.
	Spec() EnvSpec

	// Reset starts an episode and returns its First step. Until the next call
	// of Reset the environment draws all its randomness from rng and from
	// nothing else.
	Reset(rng *rand.Rand) TimeStep

	// Step applies a and returns the next step. It panics if the episode has
	// ended or if a does not conform to Spec().Actions.
	Step(a Action) TimeStep
}

// A Fallible is an Environment that may fail for reasons that lie outside this program: a
// process of its own that dies, hangs or answers nonsense. Environments that are not are
// sound for as long as the program runs, and have nothing to close.
//
// From its failure on, Reset and Step return steps that are Broken, with observations and
// features of zeros, so that whoever plays an episode needs to know nothing of failures;
// whoever made the environment asks Err when the episodes are over, and Closes it.
type Fallible interface {
	Environment

	// Err returns why the environment has failed, nil if it has not: an error that may be
	// shown to a researcher. It stays the same until Close.
	Err() error

	// Close frees what the environment holds, such as a process, and waits until that is
	// done. It may be called again. A closed environment must not be used.
	Close() error
}

// Err returns why env has failed, nil if it has not or cannot.
func Err(env Environment) error {
	if f, ok := env.(Fallible); ok {
		return f.Err()
	}
	return nil
}

// Close closes env if there is something to close.
func Close(env Environment) error {
	if f, ok := env.(Fallible); ok {
		return f.Close()
	}
	return nil
}

// A Snapshotter can save and restore its state exactly, for replay and drawing.
type Snapshotter interface {
	// Snapshot appends the present state to dst[:0] and returns it.
	Snapshot(dst []float64) []float64
	// Restore returns to a state that Snapshot of an equal environment returned.
	// A restored state can be drawn and stepped on.
	Restore(s []float64)
}

// A Faller is an Environment that can tell whether a robot has fallen, so that little more happens:
// clips after a fall are not offered.
type Faller interface {
	// Fallen reports whether the present state, entered by Reset, Step or Restore, is that of a
	// fallen robot.
	Fallen() bool
}

// Stays ends the text of a Narrator if the robot does not move from its place. Two such clips are
// compared only if the places of the robots are far apart (package measure).
const Stays = "The robot stays where it is."

// Tabular is an Environment with finitely many states and known dynamics, whose
// features depend on the state entered. Its observation is the state's index,
// as one float64. Solvers that can plan exactly test for it.
type Tabular interface {
	Environment
	Snapshotter

	// NumStates returns the number of states, n. Snapshot of state s is {s, t}.
	NumStates() int

	// Transition stores P(·|s,a) in dst and returns it. If dst is nil a new
	// slice is allocated; otherwise its length must be n.
	Transition(dst []float64, s, a int) []float64

	// Start stores the distribution of the first state in dst, under the rules
	// of Transition.
	Start(dst []float64) []float64

	// Features stores φ(s) for every state in dst, shape n×d.
	Features(dst *mat.Dense)
}

// Differentiable is an Environment without randomness whose return is a smooth
// function of the actions. Solvers over action sequences test for it.
type Differentiable interface {
	Environment

	// Return returns θ·Σφ over the whole episode in which action k,
	// actions[k·dim:(k+1)·dim], is held for Spec().Actions.Hold steps. If grad
	// is not nil it must have the length of actions and receives the gradient
	// with respect to actions. It does not disturb an episode under way.
	Return(grad, actions, theta []float64) float64
}

// EnvSpec describes an environment.
type EnvSpec struct {
	ID           string // stable: "driver"
	Version      int    // grows whenever the dynamics, observations or features change
	Actions      ActionSpec
	ObsDim       int
	FeatureNames []string // length d, for people: "Keeping to a lane"

	// PriorScale is the standard deviation of each weight under the prior of a session
	// whose PriorVar is 1: the inverse of how far the sum of a feature over a clip usually
	// differs between two behaviours, times three, so that each feature may matter as much.
	// Length d; nil for ones. Experiments have priors of their own.
	PriorScale []float64

	StepSeconds float64  // simulated seconds of one step
	CostSec     float64  // seconds of a processor that a step takes, where it was measured; 0: next to nothing
	Horizon     int      // steps of an episode
	Discount    float64  // γ in (0, 1], applied once per step to returns; 1 only with a finite horizon
	ClipSteps   int      // steps of the clip that a person judges
	Playback    float64  // simulated seconds shown per second of the viewer's time
	EndSeconds  float64  // of the viewer's time, for which a clip rests on its last picture where how it ends counts; 0: as the player has it
	EarlierClip ClipForm // of sessions that have no record of theirs, if it is another
	StillLabel  string   // subject of a rating or comparison of states: "this moment"
	Search      Search   // settings of random search for this environment
	Gait        Gait     // settings of gaits for this environment
}

// A ClipForm is the length and the speed of clips.
type ClipForm struct {
	Steps    int     // EnvSpec.ClipSteps; 0: as the environment has it now
	Playback float64 // EnvSpec.Playback
}

// Gait has the settings for gaits, policies of one oscillator (solver.Gait).
type Gait struct {
	Hertz    float64 // middle of the frequencies that a search begins with, 1/s of simulated time; 0: 2
	Feedback []int   // observations that feedback may use, ascending; nil: all
}

// Search holds settings of random search over linear policies that suit an
// environment. A zero field takes the solver's default.
type Search struct {
	StepSize   float64
	NoiseStd   float64 // of the perturbations
	Directions int     // perturbed forth and back in an iteration
	Top        int     // directions that enter an update
	Iterations int     // of a solve from scratch
	Episodes   int     // behind the evaluation of a policy
	Normalise  bool    // observations by their running mean and standard deviation
	LiveSteps  int     // environment steps that a live session spends on one policy
}

// FeatureDim returns d.
func (s EnvSpec) FeatureDim() int { return len(s.FeatureNames) }

// ActionSpec describes the actions of an environment: either Num discrete ones,
// or a box of Dim() bounded numbers.
type ActionSpec struct {
	Num       int       // discrete actions 0..Num-1; 0 if continuous
	Low, High []float64 // bounds, one per dimension; nil if discrete
	Hold      int       // steps for which open-loop policies hold an action; 0 means 1
}

// Dim returns the length of an Action.
func (a ActionSpec) Dim() int {
	if a.Num > 0 {
		return 1
	}
	return len(a.Low)
}

// Contains reports whether x is an action of a.
func (a ActionSpec) Contains(x Action) bool {
	if len(x) != a.Dim() {
		return false
	}
	if a.Num > 0 {
		k := int(x[0])
		return float64(k) == x[0] && k >= 0 && k < a.Num
	}
	for i, v := range x {
		if !(v >= a.Low[i] && v <= a.High[i]) { // so that NaN fails
			return false
		}
	}
	return true
}

// Action is what a policy does in one step: if discrete, one number that is an
// index; else one number per dimension, within the bounds of ActionSpec.
type Action []float64

// StepKind says where in an episode a TimeStep lies.
type StepKind uint8

// Kinds of TimeStep.
const (
	First      StepKind = iota // returned by Reset; carries no features
	Mid                        // neither first nor last
	Terminated                 // last: the process reached a terminal state
	Truncated                  // last: the horizon cut the episode short, or the simulation broke down
)

// Last reports whether the episode has ended.
func (k StepKind) Last() bool { return k == Terminated || k == Truncated }

// A TimeStep is the output of an environment for one step. Its slices belong to the environment and
// are valid until the next call of Step, Reset or Restore.
type TimeStep struct {
	Kind StepKind
	Obs  []float64 // length ObsDim
	Phi  []float64 // φ of the step just taken, length d; nil if Kind is First

	// Broken says that the simulation broke down in this step, which is then Truncated: the episode
	// says nothing about its policy and is not shown.
	Broken bool
}
