package experiment

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"tiebreak/envs/corridor"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
)

// Constants of the corridors. Source: docs/paper-code.md, sections 1.6 and 2.
const (
	corridorPriorVar = 3     // of a weight
	corridorNoiseVar = 0.001 // of an answer, as it is modelled; there is none
	corridorClip     = 5     // steps of a clip
	randomShare      = 0.1   // of the actions of the policy that explores
)

// corridorSizes are how much is computed in a corridor.
type corridorSizes struct {
	rollouts int // of the policy that explores
	clips    int // of each of them, which are the candidate queries
	draws    int // candidate queries of a step, but for Uniform
	errors   int // candidate queries that the squared error is over

	// Of the corrected mode, whose solves start from what is known.
	pool       int // policies that the solve for the mean may start from, besides the run's own
	poolSteps  int // iterations of the search behind each of them
	strong     int // solves, one after the other, behind the policy that regret is measured against
	candidate  int // iterations behind a candidate policy that starts from the last generation; the first starts from scratch
	meanAnswer int // iterations behind the policy for the mean, for every answer since the last one
}

// corridorSizes returns the sizes of the experiment. The first four are the
// authors', the others the project's own: few iterations are enough, for a
// policy is improved again whenever it serves as a start. Candidates do not start
// from the pool: policies that reach every cell spread the questions over all of
// them (docs/adr/0013).
func (o Options) corridorSizes() corridorSizes {
	if o.corridor != nil {
		return *o.corridor
	}
	return corridorSizes{
		rollouts: 50, clips: 100, draws: 100, errors: 1000,
		pool: 40, poolSteps: 10, strong: 4, candidate: 3, meanAnswer: 1,
	}
}

// corridorRows are the rows of the paper's table: IDRL with so many updates of
// the candidate policies, and the baselines.
func corridorRows() []string {
	return []string{"uniform", "igr", "eir", "idrl:20", "idrl:4", "idrl:2", "idrl:1"}
}

// corridorVariants are the numbers of updates of IDRL's candidate policies.
func corridorVariants() []string { return []string{"20", "4", "2", "1"} }

// corridorInstances returns the maker of the instances of a robot's corridor.
func corridorInstances(r robot) func(context.Context, Experiment, Options) (maker, error) {
	return func(ctx context.Context, e Experiment, o Options) (maker, error) {
		if o.robot != nil {
			r = *o.robot
		}
		c, err := newCorridorSetup(r, e, o)
		if err != nil {
			return nil, err
		}
		if err := c.prepare(ctx, o); err != nil {
			return nil, fmt.Errorf("policies of %s: %w", c.spec.ID, err)
		}
		return c.instance, nil
	}
}

// corridorWeights returns the true weights: the robot is to move on before the
// goal and back behind it.
func corridorWeights() []float64 {
	theta := make([]float64, corridor.FeatureDim)
	const perCell = corridor.FeatureDim / corridor.Cells // dx comes first
	for cell := range corridor.Cells {
		switch {
		case cell < corridor.Goal:
			theta[perCell*cell] = 1
		case cell > corridor.Goal:
			theta[perCell*cell] = -1
		}
	}
	return theta
}

// A corridorInstance is an instance under construction, and behind its solvers.
type corridorInstance struct {
	*instance
	c      *corridorSetup
	env    *stepCounter   // of what happens one after the other
	envs   []*stepCounter // one a worker of a search, the first of them env
	solved map[solveKey]solved
}

// instance makes the instance of a seed.
func (c *corridorSetup) instance(ctx context.Context, seed uint64) (*instance, error) {
	var envs []*stepCounter
	for range c.envs {
		env, err := c.robot.newEnv()
		if err != nil {
			return nil, err
		}
		envs = append(envs, &stepCounter{Environment: env})
	}
	w := &corridorInstance{
		instance: &instance{seed: seed, paper: c.paper, theta: c.true, prior: c.prior, draws: c.sizes.draws},
		c:        c, env: envs[0], envs: envs, solved: map[solveKey]solved{},
	}
	w.model = belief.Model{Start: w.prior, Rating: belief.Rating{NoiseVar: corridorNoiseVar}}
	w.variants = map[string]func(*instance){}
	for _, name := range corridorVariants() {
		updates, err := strconv.Atoi(name)
		if err != nil {
			return nil, err
		}
		w.variants[name] = func(w *instance) { w.updates = updates }
	}
	if err := w.explore(ctx); err != nil {
		return nil, err
	}
	if err := w.solvers(ctx); err != nil {
		return nil, err
	}
	w.mse = w.errorOfClips()
	return w.instance, w.expert()
}

// steps returns the number of steps of all environments so far.
func (w *corridorInstance) steps() (n int64) {
	for _, env := range w.envs {
		n += env.steps
	}
	return n
}

// explore makes the candidate queries: clips of rollouts of the policy that
// explores, each of which asks for the sum of the rewards of its steps.
func (w *corridorInstance) explore(ctx context.Context) error {
	p, err := solver.NewLinear(w.c.spec, w.c.explorer)
	if err != nil {
		return fmt.Errorf("policy that explores: %w", err)
	}
	for k := range w.c.sizes.rollouts {
		phi, err := w.exploration(ctx, p, w.stream("exploration", k))
		if err != nil {
			return err
		}
		starts := w.stream("clips", k)
		for range w.c.sizes.clips {
			start := starts.IntN(len(phi) - corridorClip)
			x := make([]float64, len(w.theta))
			for _, row := range phi[start : start+corridorClip] {
				floats.Add(x, row)
			}
			id := fmt.Sprintf("clip %d", len(w.queries)) // two equal clips are two queries
			w.queries = append(w.queries, idrl.QueryVector{
				Query: idrl.Query{ID: idrl.QueryID(id), Kind: idrl.RateClip, Clips: []idrl.ClipID{idrl.ClipID(id)}}, X: x,
			})
		}
	}
	return nil
}

// breakdowns is the number of episodes in a row that may break down.
const breakdowns = 10

// exploration returns the features of each step of an episode of p with some
// random actions. Episodes that break down are played again.
func (w *corridorInstance) exploration(ctx context.Context, p idrl.Policy, stream *rand.Rand) ([][]float64, error) {
	for range breakdowns {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		phi, broken := episode(w.env, func(dst idrl.Action, obs []float64) {
			if stream.Float64() < randomShare {
				w.c.robot.random(dst, w.c.spec.Actions, stream)
				return
			}
			p.Act(dst, obs, stream)
		}, stream)
		if !broken && len(phi) > corridorClip {
			return phi, nil
		}
	}
	return nil, fmt.Errorf("the simulation broke down in each of %d episodes of the policy that explores", breakdowns)
}

// episode plays an episode and returns the features of its steps, and whether
// the simulation broke down, then without those of the last.
func episode(env idrl.Environment, act func(dst idrl.Action, obs []float64), stream *rand.Rand) (phi [][]float64, broken bool) {
	action := make(idrl.Action, env.Spec().Actions.Dim())
	for _, step := range idrl.Episode(env, func(obs []float64) idrl.Action { act(action, obs); return action }, stream) {
		switch {
		case step.Broken:
			return phi, true
		case step.Kind != idrl.First:
			phi = append(phi, slices.Clone(step.Phi))
		}
	}
	return phi, false
}

// expert makes the expert, who says the sum of the rewards of a clip exactly.
func (w *corridorInstance) expert() error {
	task := sim.Task{Env: w.c.spec.ID, Theta: w.theta}
	expert, err := sim.NewExpert("numeric", task, sim.Options{Range: 1, Unclamped: true})
	if err != nil {
		return err
	}
	queries, stream := w.queries, w.answerStream
	w.answer = func(q int, n uint64) idrl.Answer { return expert.Answer(queries[q], stream(q, n)) }
	return nil
}

// errorOfClips returns the mean squared error of the expected answers to the
// candidate queries, or to some that are spread evenly over all of them.
func (w *corridorInstance) errorOfClips() func([]float64) float64 {
	n := min(w.c.sizes.errors, len(w.queries))
	clips := make([][]float64, n)
	for i := range clips {
		clips[i] = w.queries[i*len(w.queries)/n].X
	}
	theta := w.theta
	return func(mean []float64) float64 {
		diff := floats.SubTo(make([]float64, len(mean)), mean, theta)
		sum := 0.0
		for _, x := range clips {
			e := floats.Dot(diff, x)
			sum += e * e
		}
		return sum / float64(n)
	}
}

// solvers sets the solvers and the return that regret is measured against.
func (w *corridorInstance) solvers(ctx context.Context) error {
	strong, err := w.c.reference(ctx, w)
	if err != nil {
		return err
	}
	best, err := w.evaluated(strong)
	if err != nil {
		return err
	}
	w.best = best.value
	if w.paper {
		w.noiseVar, w.visits = corridorNoiseVar, w.visit
		w.candidateSolver = arsSolver{corridorInstance: w, iterations: w.c.spec.Search.Iterations, scratch: true}
		w.evalSolver = arsSolver{corridorInstance: w, iterations: w.c.spec.Search.Iterations, scratch: true, evaluates: true}
		return nil
	}
	rest := policy{params: w.c.pool.Params[0], mu: w.c.pool.Mu[0]}
	w.candidateSolver = arsSolver{corridorInstance: w, iterations: w.c.sizes.candidate, rest: rest}
	w.evalSolver = arsSolver{corridorInstance: w, iterations: w.c.sizes.meanAnswer * w.c.every, pool: w.c.pool, evaluates: true}
	return nil
}

// evaluated returns the policy with these parameters and what ten episodes say
// of it, which begin alike for all policies of the seed.
func (w *corridorInstance) evaluated(params []float64) (policy, error) {
	p, err := solver.NewLinear(w.c.spec, params)
	if err != nil {
		return policy{}, err
	}
	mu := solver.Mu(w.env, p, w.stream("evaluation", 0))
	value := floats.Dot(w.theta, mu)
	if math.IsNaN(value) {
		return policy{}, fmt.Errorf("evaluation in %s: %w", w.c.spec.ID, solver.ErrBroken)
	}
	return policy{params: params, mu: mu, value: value}, nil
}

// visit returns the features of one rollout of p, and how often it met each
// state.
func (w *corridorInstance) visit(p policy, stream *rand.Rand) visitation {
	v := visitation{counts: make([]float64, len(w.theta)), states: map[string]int{}}
	linear, err := solver.NewLinear(w.c.spec, p.params)
	if err != nil {
		panic(err) // a solver has returned it
	}
	phi, _ := episode(w.env, func(dst idrl.Action, obs []float64) { linear.Act(dst, obs, stream) }, stream)
	for _, row := range phi {
		floats.Add(v.counts, row)
		v.states[bits(row)]++
	}
	return v
}

// A stepCounter counts the steps of an environment.
type stepCounter struct {
	idrl.Environment
	steps int64
}

// Step implements idrl.Environment.
func (c *stepCounter) Step(a idrl.Action) idrl.TimeStep {
	c.steps++
	return c.Environment.Step(a)
}
