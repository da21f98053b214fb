package solver

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// Feedback improves a gait by augmented random search (ARSUpdate) over its oscillator and
// linear feedback. Where the gait has none, K begins at 0, and the means and standard
// deviations are those of the observations along the gait; observations that do not vary
// are left out, and those that the environment does not name (idrl.Gait.Feedback).
//
// The episodes of an iteration begin in one state, and those of the next in another.
// Every few iterations the gait is judged as in Evolve; so are the warm starts at first,
// and the result is the best of all judged gaits. After several judgements that found
// nothing better the search returns to the best. A direction in which the simulation breaks
// down, forth or back, is left out of the iteration. Restarts are ignored.
//
// After every iteration it calls the task's Save with its state. A solve that is resumed
// from it gives the same policy as one that was not interrupted.
type Feedback struct {
	StepSize   float64 // default 0.03
	NoiseStd   float64 // of the perturbations; default 0.03
	Directions int     // perturbed forth and back in an iteration; default 8
	Top        int     // directions that enter the update; default half of Directions, rounded up
	Iterations int     // of a solve; default 100
	Steps      int     // of an episode of the search, at most the horizon; default 500
	Every      int     // iterations from one judgement to the next; default 5
	Patience   int     // judgements in a row that find nothing better before the search returns to the best; default 5
	Judging    Judging // default 16 starts: with few, the best of many gaits falls from other starts

	// MaxSteps bounds the environment steps of a solve: no iteration begins when they are
	// spent. 0 means no bound.
	MaxSteps int

	Workers int                     // goroutines; default 1. The result does not depend on it
	NewEnv  func() idrl.Environment // returns an environment equal to the task's, for further workers; nil means one worker
}

var _ idrl.Solver = Feedback{}

func (f Feedback) withDefaults(spec idrl.EnvSpec) Feedback {
	f.StepSize = cmp.Or(f.StepSize, 0.03)
	f.NoiseStd = cmp.Or(f.NoiseStd, 0.03)
	f.Directions = cmp.Or(f.Directions, 8)
	f.Top = cmp.Or(f.Top, (f.Directions+1)/2)
	f.Iterations = cmp.Or(f.Iterations, 100)
	f.Steps = min(cmp.Or(f.Steps, 500), spec.Horizon)
	f.Every = cmp.Or(f.Every, 5)
	f.Patience = cmp.Or(f.Patience, 5)
	f.Judging.Starts = cmp.Or(f.Judging.Starts, 16)
	f.Judging = f.Judging.withDefaults(spec)
	return f
}

func (f Feedback) check(spec idrl.EnvSpec) error {
	if err := CheckGaits(spec); err != nil {
		return err
	}
	if !(f.StepSize > 0 && f.NoiseStd > 0) || min(f.Iterations, f.MaxSteps) < 0 || min(f.Directions, f.Top, f.Steps, f.Every, f.Patience) < 1 || f.Top > f.Directions {
		return idrl.Errorf(idrl.Invalid, "the settings of the search for feedback must be positive, and the top directions (%d) no more than the directions (%d)", f.Top, f.Directions)
	}
	return f.Judging.check()
}

func (f Feedback) place(env idrl.Environment) place {
	return place{env, f.Workers, f.NewEnv, f.Judging}
}

// settings describes the settings that a state depends on.
func (f Feedback) settings(spec idrl.EnvSpec) string {
	f.Workers, f.NewEnv, f.Iterations, f.MaxSteps = 0, nil, 0, 0
	return fmt.Sprintf("feedback %s %d %+v", spec.ID, spec.Version, f)
}

// Solve returns a *Gait. It returns an error of kind Invalid if there is no warm start, if
// Theta or a warm start does not fit the environment, or if a setting is out of its range;
// and ErrBroken.
func (f Feedback) Solve(ctx context.Context, task idrl.SolveTask, rng *rand.Rand) (idrl.Policy, error) {
	most := bound{f.withDefaults(task.Env.Spec()).Iterations, f.MaxSteps}
	return solveGait(ctx, task, rng.Uint64(), most, f.Continue, f.Begin)
}

// A FeedbackSearch is a Feedback that is run iteration by iteration.
type FeedbackSearch struct {
	Feedback
	course
	params []float64 // of the present gait, with feedback
	stale  int       // judgements in a row that found nothing better
}

var _ GaitSearch = (*FeedbackSearch)(nil)

// Begin returns a search for a task that has run no iteration. It judges the warm starts
// and begins with the best. It is a function of the task and the seed, and uses the task's
// environment. Its errors are those of Solve.
func (f Feedback) Begin(ctx context.Context, task idrl.SolveTask, seed uint64) (*FeedbackSearch, error) {
	spec := task.Env.Spec()
	f = f.withDefaults(spec)
	if err := f.check(spec); err != nil {
		return nil, err
	}
	if len(task.Warm) == 0 {
		return nil, idrl.Errorf(idrl.Invalid, "feedback is added to a gait: there is no warm start")
	}
	c, err := f.place(task.Env).begin(task, seed)
	if err != nil {
		return nil, err
	}
	v := &FeedbackSearch{Feedback: f, course: c}
	if _, err := v.judge.judge(ctx, v.ground, task.Theta, task.Warm...); err != nil {
		return nil, err
	}
	best, ok := v.Best(task.Theta)
	if !ok {
		return nil, errNoGait(spec)
	}
	v.params, err = v.ground.widen(ctx, best.Params, f.Steps)
	return v, err
}

// leastObsStd is the standard deviation below which an observation does not vary.
const leastObsStd = 1e-3

// widen returns the parameters of the same gait with feedback of K = 0, or the gait itself
// if it has feedback or no observation varies along two of its episodes.
func (g *ground) widen(ctx context.Context, params []float64, steps int) ([]float64, error) {
	parts, err := partsOf(g.spec, params)
	if err != nil || len(parts.used) > 0 {
		return slices.Clone(params), err
	}
	trials := make([]trial, 2)
	for i := range trials {
		trials[i] = trial{params: params, start: g.stream("observed start", i), steps: steps, watch: true}
	}
	if err := g.play(ctx, trials); err != nil {
		return nil, err
	}
	seen := newMoments(g.spec.ObsDim)
	for _, b := range trials {
		if !b.broken {
			seen.merge(b.seen)
		}
	}
	var used, mean, std []float64
	for _, i := range g.feedback() {
		if s := math.Sqrt(seen.m2[i] / seen.count); s >= leastObsStd && s <= maxGaitNumber && math.Abs(seen.mean[i]) <= maxGaitNumber {
			used, mean, std = append(used, float64(i)), append(mean, seen.mean[i]), append(std, s)
		}
	}
	gains := make([]float64, len(used)*g.spec.Actions.Dim())
	return slices.Concat(params, used, gains, mean, std), nil
}

// feedback returns the observations that feedback may use.
func (g *ground) feedback() []int {
	if g.spec.Gait.Feedback != nil {
		return g.spec.Gait.Feedback
	}
	all := make([]int, g.spec.ObsDim)
	for i := range all {
		all[i] = i
	}
	return all
}

// Present implements GaitSearch: it is the gait that the next iteration improves.
func (v *FeedbackSearch) Present() []float64 { return v.params }

// Run implements GaitSearch: a round is an iteration.
func (v *FeedbackSearch) Run(ctx context.Context, theta []float64, n int) error {
	for range n {
		if err := v.iterate(ctx, theta); err != nil {
			return err
		}
		v.done++
		if v.done%v.Every == 0 {
			if err := v.compare(ctx, theta); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare judges the present gait, and returns to the best one if the search has found nothing
// better for a long time.
func (v *FeedbackSearch) compare(ctx context.Context, theta []float64) error {
	before, _ := v.Best(theta)
	if _, err := v.judge.judge(ctx, v.ground, theta, v.params); err != nil {
		return err
	}
	best, _ := v.Best(theta)
	if v.stale++; !slices.Equal(best.Params, before.Params) {
		v.stale = 0
	}
	if v.stale < v.Patience {
		return nil
	}
	v.stale = 0
	var err error
	v.params, err = v.ground.widen(ctx, best.Params, v.Steps)
	return err
}

// free returns the numbers that are searched: the oscillator and K, as copies in a row.
// set puts them back.
func (v *FeedbackSearch) free() []float64 {
	parts, err := partsOf(v.ground.spec, v.params)
	if err != nil {
		panic(err) // they were checked
	}
	return slices.Concat(parts.oscillator, parts.gains)
}

// with returns the parameters of the gait with these free numbers.
func (v *FeedbackSearch) with(free []float64) []float64 {
	params := slices.Clone(v.params)
	parts, err := partsOf(v.ground.spec, params)
	if err != nil {
		panic(err) // they were checked
	}
	n := copy(parts.oscillator, free)
	copy(parts.gains, free[n:])
	return params
}

// iterate moves the gait by one update.
func (v *FeedbackSearch) iterate(ctx context.Context, theta []float64) error {
	stream := v.ground.stream("directions", v.done)
	here := v.free()
	deltas := matrix(v.Directions, len(here))
	trials := make([]trial, 2*v.Directions) // of every direction forth and then back
	for k, delta := range deltas {
		for i := range delta {
			delta[i] = stream.NormFloat64()
		}
		for side, sign := range []float64{1, -1} {
			moved := slices.Clone(here)
			floats.AddScaled(moved, sign*v.NoiseStd, delta)
			trials[2*k+side] = trial{params: v.with(moved), start: v.ground.stream("start", v.done), steps: v.Steps}
		}
	}
	if err := v.ground.play(ctx, trials); err != nil {
		return err
	}
	var kept [][]float64
	var plus, minus []float64
	for k, delta := range deltas {
		forth, back := trials[2*k].value(theta), trials[2*k+1].value(theta)
		if !math.IsInf(forth, -1) && !math.IsInf(back, -1) {
			kept, plus, minus = append(kept, delta), append(plus, forth), append(minus, back)
		}
	}
	v.update(here, kept, plus, minus)
	return nil
}

// update moves the free numbers by the top directions. The standard deviation in ARSUpdate is that
// of their returns alone, as in the paper of ARS: a fall in another direction would make the step
// small.
func (v *FeedbackSearch) update(free []float64, deltas [][]float64, plus, minus []float64) {
	if len(deltas) == 0 {
		return
	}
	order := make([]int, len(deltas))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(max(plus[j], minus[j]), max(plus[i], minus[i])) })
	var top [][]float64
	var forth, back []float64
	for _, k := range order[:min(v.Top, len(order))] {
		top, forth, back = append(top, deltas[k]), append(forth, plus[k]), append(back, minus[k])
	}
	ARSUpdate(free, top, forth, back, v.StepSize, len(top))
	v.params = v.with(free)
}

// A feedbackState is a FeedbackSearch between iterations.
type feedbackState struct {
	Settings string
	Seed     uint64
	Spent    int
	Done     int
	Stale    int
	Known    []Known
	Params   []float64
}

// Encode returns the state of the search, from which Continue continues.
func (v *FeedbackSearch) Encode() []byte {
	k := v.kept(v.settings(v.ground.spec))
	return encode(&feedbackState{Settings: k.settings, Seed: k.seed, Spent: k.spent, Done: k.done, Stale: v.stale, Known: k.known, Params: v.params})
}

// Continue returns the search from a state of Encode. It returns an error of kind Invalid if the
// state is damaged, or of another environment, version or setting; the settings that limit a solve
// may differ.
func (f Feedback) Continue(env idrl.Environment, state []byte) (*FeedbackSearch, error) {
	spec := env.Spec()
	f = f.withDefaults(spec)
	if err := f.check(spec); err != nil {
		return nil, err
	}
	s, err := decode[feedbackState](state)
	if err != nil {
		return nil, err
	}
	if s.Stale < 0 {
		return nil, idrl.Errorf(idrl.Invalid, "the state of a search for feedback has %d judgements", s.Stale)
	}
	c, err := f.place(env).resume(kept{s.Settings, s.Seed, s.Spent, s.Done, s.Known}, f.settings(spec))
	if err != nil {
		return nil, err
	}
	if _, err := NewGait(spec, s.Params); err != nil {
		return nil, err
	}
	return &FeedbackSearch{Feedback: f, course: c, params: s.Params, stale: s.Stale}, nil
}
