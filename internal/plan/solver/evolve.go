package solver

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/cmaes"
)

// Evolve searches among gaits by CMA-ES (package cmaes) over the oscillator, 1 + 3·nu
// numbers; feedback of the gait from which it starts is kept as it is.
//
// The episodes of a generation begin in one state, and those of the next in another, so
// that the search does not fit a single start. Every few generations the mean of the
// distribution and the best gait of the generation are judged from several other starts,
// and the result is the judged gait with the highest mean return less half of its standard
// deviation (Known.Score). An episode that the environment ends early counts up to there, and one in
// which the simulation breaks down ranks last. Restarts are ignored.
//
// The search starts from the best of the warm starts in one episode. Without warm starts,
// several rival searches start from the best of some random gaits each and take turns; after
// a trial only the one with the best gait continues, because the local optimum of a search
// is decided early. When the distribution has become narrow, the search begins anew around
// the best gait.
//
// After every generation it calls the task's Save with its state. A solve that is resumed
// from it gives the same policy as one that was not interrupted.
type Evolve struct {
	Sigma       float64 // first standard deviation of every number of the oscillator; default 0.3
	Lambda      int     // gaits of a generation; default 14
	Generations int     // of a solve; default 100
	Steps       int     // of an episode of the search, at most the horizon; default 200
	First       int     // random gaits from which a rival starts; default 30
	Rivals      int     // searches that start apart where there are no warm starts; default 1
	Trial       int     // generations of each rival before all but one end; default 40
	Every       int     // generations from one judgement to the next; default 5
	Narrow      float64 // step size of CMA-ES below which the search begins anew around the best judged gait; default a sixth of Sigma
	Judging     Judging

	// MaxSteps bounds the environment steps of a solve: no generation begins when they are
	// spent. 0 means no bound.
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
	e.Rivals = cmp.Or(e.Rivals, 1)
	e.Trial = cmp.Or(e.Trial, 40)
	e.Every = cmp.Or(e.Every, 5)
	e.Narrow = cmp.Or(e.Narrow, e.Sigma/6)
	e.Judging = e.Judging.withDefaults(spec)
	return e
}

func (e Evolve) check(spec idrl.EnvSpec) error {
	if err := CheckGaits(spec); err != nil {
		return err
	}
	if min(e.Generations, e.MaxSteps) < 0 || min(e.Steps, e.First, e.Every, e.Rivals, e.Trial) < 1 || !(e.Narrow > 0) {
		return idrl.Errorf(idrl.Invalid, "the settings of a search among gaits must be positive: %d generations, %d steps of an episode and %d at most, %d first gaits, judged after every %d",
			e.Generations, e.Steps, e.MaxSteps, e.First, e.Every)
	}
	return e.Judging.check()
}

func (e Evolve) place(env idrl.Environment) place {
	return place{env, e.Workers, e.NewEnv, e.Judging}
}

// settings describes the settings that a state depends on.
func (e Evolve) settings(spec idrl.EnvSpec) string {
	e.Workers, e.NewEnv, e.Generations, e.MaxSteps = 0, nil, 0, 0
	return fmt.Sprintf("evolve %s %d %+v", spec.ID, spec.Version, e)
}

// Solve returns a *Gait. It returns an error of kind Invalid if the environment has no
// bounded continuous actions, if Theta or a warm start does not fit it, or if a setting is
// negative; and ErrBroken.
func (e Evolve) Solve(ctx context.Context, task idrl.SolveTask, rng *rand.Rand) (idrl.Policy, error) {
	most := bound{e.withDefaults(task.Env.Spec()).Generations, e.MaxSteps}
	return solveGait(ctx, task, rng.Uint64(), most, e.Continue, e.Begin)
}

// An Evolution is an Evolve that is run generation by generation, over all rivals.
type Evolution struct {
	Evolve
	course
	rivals []rival // one when the others have stopped
}

var _ GaitSearch = (*Evolution)(nil)

// A rival is one search by CMA-ES.
type rival struct {
	strategy *cmaes.Strategy
	base     []float64 // the gait that it started from, whose feedback is kept
	best     *Known    // of its judged gaits; nil if there is none
}

// Begin returns a search for a task that has run no generation. It is a function of the
// task and the seed, and uses the task's environment. Its errors are those of Solve.
func (e Evolve) Begin(ctx context.Context, task idrl.SolveTask, seed uint64) (*Evolution, error) {
	spec := task.Env.Spec()
	e = e.withDefaults(spec)
	if err := e.check(spec); err != nil {
		return nil, err
	}
	c, err := e.place(task.Env).begin(task, seed)
	if err != nil {
		return nil, err
	}
	v := &Evolution{Evolve: e, course: c}
	starts, err := v.starts(task.Warm)
	if err != nil {
		return nil, err
	}
	for _, gaits := range starts {
		if err := v.begin(ctx, task.Theta, gaits); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// starts returns for each rival the gaits among which it looks for its start: the warm starts for a
// single rival, or random gaits.
func (v *Evolution) starts(warm [][]float64) (starts [][][]float64, err error) {
	if len(warm) > 0 {
		return [][][]float64{warm}, nil
	}
	stream := v.ground.stream("first gaits", 0)
	for range v.Rivals {
		first := make([][]float64, v.First)
		for i := range first {
			if first[i], err = RandomGait(v.ground.spec, stream); err != nil {
				return nil, err
			}
		}
		starts = append(starts, first)
	}
	return starts, nil
}

// begin adds a rival that starts from the best of the gaits in one episode, which is also
// judged.
func (v *Evolution) begin(ctx context.Context, theta []float64, gaits [][]float64) error {
	trials := make([]trial, len(gaits))
	for i, params := range gaits {
		trials[i] = trial{params: params, start: v.ground.stream("first start", 0), steps: v.Steps}
	}
	if err := v.ground.play(ctx, trials); err != nil {
		return err
	}
	best := 0
	for i := range trials {
		if trials[i].value(theta) > trials[best].value(theta) {
			best = i
		}
	}
	r, err := v.around(gaits[best])
	if err != nil {
		return err
	}
	v.rivals = append(v.rivals, r)
	return v.compare(ctx, theta, &v.rivals[len(v.rivals)-1], r.base)
}

// around returns a rival that begins at a gait.
func (v *Evolution) around(params []float64) (rival, error) {
	strategy, err := cmaes.New(params[:v.size()], cmaes.Config{Sigma: v.Sigma, Lambda: v.Lambda})
	if err != nil {
		return rival{}, idrl.Errorf(idrl.Invalid, "search among gaits: %v", err)
	}
	return rival{strategy: strategy, base: slices.Clone(params)}, nil
}

// compare judges gaits of a rival.
func (v *Evolution) compare(ctx context.Context, theta []float64, r *rival, gaits ...[]float64) error {
	judged, err := v.judge.judge(ctx, v.ground, theta, gaits...)
	for _, k := range judged {
		if k.Score(theta) > r.score(theta) {
			r.best = &k
		}
	}
	return err
}

// score returns that of the rival's best gait, −Inf if it has none.
func (r *rival) score(theta []float64) float64 {
	if r.best == nil {
		return math.Inf(-1)
	}
	return r.best.Score(theta)
}

// gait returns the parameters of the gait with an oscillator.
func (r *rival) gait(oscillator []float64) []float64 {
	return slices.Concat(oscillator, r.base[len(oscillator):])
}

// mean returns the parameters of the gait at the mean of the distribution.
func (r *rival) mean() []float64 { return r.gait(r.strategy.Mean()) }

// size is the number of parameters that are searched.
func (v *Evolution) size() int { return OscillatorSize(v.ground.spec) }

// StepSize returns the present step size of CMA-ES, in units of the numbers of a gait; of
// the first rival while there are several.
func (v *Evolution) StepSize() float64 { return v.rivals[0].strategy.Sigma() }

// Present returns the parameters of the gait at the mean of the distribution; of the first
// rival while there are several.
func (v *Evolution) Present() []float64 { return v.rivals[0].mean() }

// Run implements GaitSearch: a round is a generation.
func (v *Evolution) Run(ctx context.Context, theta []float64, n int) error {
	for range n {
		if err := v.generation(ctx, theta); err != nil {
			return err
		}
	}
	return nil
}

func (v *Evolution) generation(ctx context.Context, theta []float64) error {
	r := &v.rivals[v.done%len(v.rivals)]
	round := v.done / len(v.rivals) // all rivals begin in the same state
	candidates := r.strategy.Ask(v.ground.stream("candidates", v.done))
	trials := make([]trial, len(candidates))
	for i, x := range candidates {
		trials[i] = trial{params: r.gait(x), start: v.ground.stream("start", round), steps: v.Steps}
	}
	if err := v.ground.play(ctx, trials); err != nil {
		return err
	}
	values, best := make([]float64, len(trials)), 0
	for i := range trials {
		if values[i] = trials[i].value(theta); values[i] > values[best] {
			best = i
		}
	}
	if err := r.strategy.Tell(values); err != nil {
		return err
	}
	v.done++
	if (round+1)%v.Every == 0 {
		if err := v.compare(ctx, theta, r, r.mean(), trials[best].params); err != nil {
			return err
		}
	}
	return v.settle(theta)
}

// settle keeps the best rival after the trial of rivals, and restarts the remaining one if its
// distribution has become narrow.
func (v *Evolution) settle(theta []float64) (err error) {
	if n := len(v.rivals); n > 1 {
		if v.done == n*v.Trial {
			best := slices.MaxFunc(v.rivals, func(a, b rival) int { return cmp.Compare(a.score(theta), b.score(theta)) })
			v.rivals = []rival{best}
		}
		return nil
	}
	if known, ok := v.Best(theta); ok && v.rivals[0].strategy.Sigma() < v.Narrow {
		v.rivals[0], err = v.around(known.Params)
	}
	return err
}
