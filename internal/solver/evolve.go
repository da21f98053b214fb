package solver

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/cmaes"
	"tiebreak/internal/idrl"
	"tiebreak/internal/pack"
)

// Evolve searches among gaits by CMA-ES (package cmaes) over the oscillator, 1 + 3·nu
// numbers; feedback of the gait from which it starts is kept as it is.
//
// The episodes of a generation begin in one state, and those of the next in another, so
// that what survives is not made for one start. Every few generations the mean of the
// distribution and the best gait of the generation are judged from several other starts,
// and the result is the best of all judged gaits by mean return less half of its spread
// (Known.Score). It starts from the best of the warm starts in one episode, or of some
// random gaits if there are none. An episode that the environment ends early counts up to
// there, and one in which the simulation breaks down ranks last. Restarts are ignored.
//
// It tells the task's Save where it is after every generation. A solve that is resumed
// from there gives the same policy as one that was not interrupted.
type Evolve struct {
	Sigma       float64 // first standard deviation of every number of the oscillator; default 0.3
	Lambda      int     // gaits of a generation; default 14
	Generations int     // of a solve; default 100
	Steps       int     // of an episode of the search, at most the horizon; default 200
	First       int     // random gaits from which it starts where there are no warm starts; default 30
	Every       int     // generations from one judgement to the next; default 10
	Judging     Judging

	// MaxSteps bounds the environment steps of a solve: no generation begins after
	// as many. 0 means no bound.
	MaxSteps int

	Workers int                     // goroutines; default 1. The result does not depend on it
	NewEnv  func() idrl.Environment // returns an environment equal to the task's, for further workers; nil means one worker
}

var _ idrl.Solver = Evolve{}

func (e Evolve) withDefaults(spec idrl.EnvSpec) Evolve {
	e.Sigma = cmp.Or(e.Sigma, 0.3)
	e.Lambda = cmp.Or(e.Lambda, 14)
	e.Generations = cmp.Or(e.Generations, 100)
	e.Steps = min(cmp.Or(e.Steps, 200), spec.Horizon)
	e.First = cmp.Or(e.First, 30)
	e.Every = cmp.Or(e.Every, 10)
	e.Judging = e.Judging.withDefaults(spec)
	return e
}

func (e Evolve) check(spec idrl.EnvSpec) error {
	if err := CheckGaits(spec); err != nil {
		return err
	}
	if min(e.Generations, e.MaxSteps) < 0 || min(e.Steps, e.First, e.Every) < 1 {
		return idrl.Errorf(idrl.Invalid, "the settings of a search among gaits must be positive: %d generations, %d steps of an episode and %d at most, %d first gaits, judged after every %d",
			e.Generations, e.Steps, e.MaxSteps, e.First, e.Every)
	}
	return e.Judging.check()
}

// settings names what a state depends on.
func (e Evolve) settings(spec idrl.EnvSpec) string {
	e.Workers, e.NewEnv, e.Generations, e.MaxSteps = 0, nil, 0, 0
	return fmt.Sprintf("evolve %s %d %+v", spec.ID, spec.Version, e)
}

// Solve returns a *Gait. It returns an error of kind Invalid if the environment has no
// bounded continuous actions, if Theta or a warm start does not fit it, or if a setting is
// negative; and ErrBroken.
func (e Evolve) Solve(ctx context.Context, task idrl.SolveTask, rng *rand.Rand) (idrl.Policy, error) {
	seed := rng.Uint64()
	v := e.resume(task, seed)
	if v == nil {
		var err error
		if v, err = e.Begin(ctx, task, seed); err != nil {
			return nil, err
		}
	}
	for v.Generation() < v.Generations && (v.MaxSteps == 0 || v.ground.spent < v.MaxSteps) {
		if err := v.Run(ctx, task.Theta, 1); err != nil {
			return nil, err
		}
		if task.Save != nil {
			task.Save(saveSolve(task.Theta, v.Encode()))
		}
	}
	best, ok := v.Best(task.Theta)
	if !ok {
		return nil, errNoGait(v.ground.spec)
	}
	return NewGait(v.ground.spec, best.Params)
}

// An Evolution is an Evolve that is run generation by generation. Its weights θ may change
// from one generation to the next, and it can be kept between them.
type Evolution struct {
	Evolve
	judge    judge
	ground   *ground
	strategy *cmaes.Strategy
	base     []float64 // the gait that it started from, whose feedback is kept
}

// Begin returns a search for a task that has run no generation. It is a function of the
// task and the seed, and uses the task's environment. Its errors are those of Solve.
func (e Evolve) Begin(ctx context.Context, task idrl.SolveTask, seed uint64) (*Evolution, error) {
	spec := task.Env.Spec()
	e = e.withDefaults(spec)
	if err := e.check(spec); err != nil {
		return nil, err
	}
	if err := checkWeights(task); err != nil {
		return nil, err
	}
	v := &Evolution{Evolve: e, judge: judge{Judging: e.Judging}, ground: newGround(task.Env, e.Workers, e.NewEnv, seed)}
	starts, err := v.starts(task.Warm)
	if err != nil {
		return nil, err
	}
	if err := v.begin(ctx, task.Theta, starts); err != nil {
		return nil, err
	}
	return v, nil
}

// starts returns the gaits among which the search finds its start.
func (v *Evolution) starts(warm [][]float64) ([][]float64, error) {
	for i, params := range warm {
		if _, err := NewGait(v.ground.spec, params); err != nil {
			return nil, fmt.Errorf("warm start %d: %w", i+1, err)
		}
	}
	if len(warm) > 0 {
		return warm, nil
	}
	stream := v.ground.stream("first gaits", 0)
	var first [][]float64
	for range v.First {
		params, err := RandomGait(v.ground.spec, stream)
		if err != nil {
			return nil, err
		}
		first = append(first, params)
	}
	return first, nil
}

// begin starts from the best of the gaits in one episode, which is also judged.
func (v *Evolution) begin(ctx context.Context, theta []float64, starts [][]float64) error {
	bouts := make([]bout, len(starts))
	for i, params := range starts {
		bouts[i] = bout{params: params, start: v.ground.stream("first start", 0), steps: v.Steps}
	}
	if err := v.ground.play(ctx, bouts); err != nil {
		return err
	}
	best := 0
	for i := range bouts {
		if bouts[i].value(theta) > bouts[best].value(theta) {
			best = i
		}
	}
	v.base = slices.Clone(starts[best])
	var err error
	if v.strategy, err = cmaes.New(v.base[:v.size()], cmaes.Config{Sigma: v.Sigma, Lambda: v.Lambda}); err != nil {
		return idrl.Errorf(idrl.Invalid, "search among gaits: %v", err)
	}
	return v.judge.judge(ctx, v.ground, theta, v.base)
}

// size is the number of parameters that are searched.
func (v *Evolution) size() int { return OscillatorSize(v.ground.spec) }

// gait returns the parameters of the gait with an oscillator.
func (v *Evolution) gait(oscillator []float64) []float64 {
	return slices.Concat(oscillator, v.base[v.size():])
}

// Generation returns how many generations have been run.
func (v *Evolution) Generation() int { return v.strategy.Generation() }

// StepSize returns the present step size of the strategy, in units of the numbers of a gait.
func (v *Evolution) StepSize() float64 { return v.strategy.Sigma() }

// Mean returns the parameters of the gait at the mean of the distribution.
func (v *Evolution) Mean() []float64 { return v.gait(v.strategy.Mean()) }

// Spent returns the environment steps so far.
func (v *Evolution) Spent() int { return v.ground.spent }

// Best returns the best of the judged gaits under theta. ok is false if the simulation
// broke down under all.
func (v *Evolution) Best(theta []float64) (k Known, ok bool) { return v.judge.best(theta) }

// Run runs n generations for the weights theta, length d. After an error, of ctx, the
// search is to be continued from its last Encode.
func (v *Evolution) Run(ctx context.Context, theta []float64, n int) error {
	for range n {
		if err := v.generation(ctx, theta); err != nil {
			return err
		}
	}
	return nil
}

func (v *Evolution) generation(ctx context.Context, theta []float64) error {
	k := v.Generation()
	candidates := v.strategy.Ask(v.ground.stream("candidates", k))
	bouts := make([]bout, len(candidates))
	for i, x := range candidates {
		bouts[i] = bout{params: v.gait(x), start: v.ground.stream("start", k), steps: v.Steps}
	}
	if err := v.ground.play(ctx, bouts); err != nil {
		return err
	}
	values, best := make([]float64, len(bouts)), 0
	for i := range bouts {
		if values[i] = bouts[i].value(theta); values[i] > values[best] {
			best = i
		}
	}
	if err := v.strategy.Tell(values); err != nil {
		return err
	}
	if (k+1)%v.Every != 0 {
		return nil
	}
	return v.judge.judge(ctx, v.ground, theta, v.gait(v.strategy.Mean()), bouts[best].params)
}

// An evolutionState is an Evolution between generations.
type evolutionState struct {
	Settings string
	Seed     uint64
	Spent    int
	Known    []Known
	Base     []float64
	Strategy []byte
}

// Encode returns the state of the search, from which Continue goes on.
func (v *Evolution) Encode() []byte {
	return encode(&evolutionState{
		Settings: v.settings(v.ground.spec), Seed: v.ground.seed, Spent: v.ground.spent,
		Known: v.judge.known, Base: v.base, Strategy: v.strategy.Encode(),
	})
}

// encode returns the bytes of a state, in which there is nothing that could fail.
func encode[T any](state *T) []byte {
	b, err := pack.Encode(state)
	if err != nil {
		panic("solver: " + err.Error())
	}
	return b
}

// Continue returns the search that Encode was called on. It returns an error of kind
// Invalid if the state is damaged, or of another environment, version or setting; those
// that bound a solve may differ.
func (e Evolve) Continue(env idrl.Environment, state []byte) (*Evolution, error) {
	spec := env.Spec()
	e = e.withDefaults(spec)
	if err := e.check(spec); err != nil {
		return nil, err
	}
	s, err := pack.Decode[evolutionState](state)
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "the state of a search among gaits: %v", err)
	}
	if s.Settings != e.settings(spec) {
		return nil, idrl.Errorf(idrl.Invalid, "the state is of another search among gaits")
	}
	strategy, err := cmaes.Decode(s.Strategy)
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "the state of a search among gaits: %v", err)
	}
	v := &Evolution{
		Evolve: e, judge: judge{e.Judging, s.Known}, ground: newGround(env, e.Workers, e.NewEnv, s.Seed),
		strategy: strategy, base: s.Base,
	}
	v.ground.spent = s.Spent
	if err := v.checkState(); err != nil {
		return nil, err
	}
	return v, nil
}

// checkState returns an error of kind Invalid if the parts do not fit the environment.
func (v *Evolution) checkState() error {
	if len(v.strategy.Mean()) != v.size() {
		return idrl.Errorf(idrl.Invalid, "the state of a search among gaits has %d numbers instead of %d", len(v.strategy.Mean()), v.size())
	}
	if _, err := NewGait(v.ground.spec, v.base); err != nil {
		return err
	}
	return checkKnown(v.ground.spec, v.judge)
}

func checkKnown(spec idrl.EnvSpec, j judge) error {
	for _, k := range j.known {
		if _, err := NewGait(spec, k.Params); err != nil {
			return err
		}
		if len(k.Mus) != j.Starts || slices.ContainsFunc(k.Mus, func(mu []float64) bool { return len(mu) != spec.FeatureDim() }) {
			return idrl.Errorf(idrl.Invalid, "the state of a search among gaits has feature sums of another environment")
		}
	}
	return nil
}

// A solveState is the state of a search that is bound to weights.
type solveState struct {
	Theta []float64
	State []byte
}

func saveSolve(theta []float64, state []byte) []byte { return encode(&solveState{theta, state}) }

// solveOf returns the state of a search that was saved for theta, nil if it is no such.
func solveOf(theta []float64, b []byte) []byte {
	s, err := pack.Decode[solveState](b)
	if err != nil || !slices.Equal(s.Theta, theta) {
		return nil
	}
	return s.State
}

// resume returns the search of the task's Resume, nil if there is none or it is of another
// solve.
func (e Evolve) resume(task idrl.SolveTask, seed uint64) *Evolution {
	v, err := e.Continue(task.Env, solveOf(task.Theta, task.Resume))
	if err != nil || v.ground.seed != seed {
		return nil
	}
	return v
}
