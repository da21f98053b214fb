package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"tiebreak/envs/driver"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/experiment/authors"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
)

// Constants of the Driver experiment.
const (
	tableSeed      = 1
	driverPriorVar = 3 // of a weight, in units of mean features and answers of ±1
)

// driverSizes are how much Driver computes before the first question.
type driverSizes struct {
	table    int // policies of the lookup table
	restarts int // random starts of each of them
	pool     int // policies whose pairs are the candidate queries
	strong   int // random starts behind the best return
	draws    int // candidate queries of a step in the authors' code
}

// sizes returns the sizes of the experiment.
func (o Options) sizes() driverSizes {
	if o.small != nil {
		return *o.small
	}
	return driverSizes{table: 1000, restarts: 10, pool: 200, strong: 60, draws: 100}
}

// driverInstances makes Driver.
func driverInstances(ctx context.Context, e Experiment, o Options) (maker, error) {
	table, err := driverTable(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("table of Driver policies: %w", err)
	}
	return func(ctx context.Context, seed uint64) (*instance, error) {
		d := &driverInstance{
			instance: &instance{seed: seed, paper: e.Mode == Paper, distance: acquisition.DistanceOf(false, e.Mode == Paper)},
			env:      driver.New(), table: table, sizes: o.sizes(),
		}
		d.true = sim.NewTask(d.env, rng.New(seed, "task", 0)).Theta
		if s, ok := e.schedule(); ok {
			return d.instance, d.asSession(ctx, e, s)
		}
		if !d.paper {
			return d.instance, d.asInText(ctx)
		}
		if a, ok := authors.Driver(seed); ok {
			d.true = a.Weights
		}
		return d.instance, d.asInCode(ctx)
	}, nil
}

// driverTable returns the lookup table, from the cache if it is there.
func driverTable(ctx context.Context, o Options) (*solver.Table, error) {
	draws := rng.New(tableSeed, "driver table", 0)
	thetas := make([][]float64, o.sizes().table)
	for k := range thetas {
		thetas[k] = []float64{draws.NormFloat64(), draws.NormFloat64(), draws.NormFloat64(), draws.NormFloat64(), 1}
	}
	c := solver.TableConfig{
		NewEnv: func() idrl.Differentiable { return driver.New() },
		Thetas: thetas, Restarts: o.sizes().restarts, Workers: o.Workers, Progress: o.Preparing,
	}
	key := c.Key(tableSeed)
	path := filepath.Join(o.Cache, "driver-"+key[:16]+".table")
	if o.Cache != "" {
		if t, err := solver.LoadTable(path, key); err == nil {
			return t, nil
		}
	}
	t, err := solver.BuildTable(ctx, c, rng.New(tableSeed, "driver table", 1))
	if err != nil || o.Cache == "" {
		return t, err
	}
	if err := os.MkdirAll(o.Cache, 0o755); err != nil {
		return nil, err
	}
	return t, solver.SaveTable(path, key, t)
}

// A driverInstance is an instance under construction.
type driverInstance struct {
	*instance
	env   *driver.Env
	table *solver.Table
	sizes driverSizes
	true  []float64 // weights of the true return, which is θ·Σφ
}

// asInText builds the instance of the text: a pool of 200 policies, each optimal for
// weights from the prior, the pool as lookup table of the solver, all pairs as
// candidate queries, and comparisons answered by the linear model.
//
// The expert's answer speaks of returns as a share of their range over the pool,
// so the weights that the belief is about are the true ones times steps/range:
// features are means over a trajectory.
func (d *driverInstance) asInText(ctx context.Context) error {
	d.prior = belief.Isotropic(len(d.true), driverPriorVar)
	d.model = belief.Model{Start: d.prior, Comparison: belief.BernoulliLinear{}}
	pool, err := d.solvePool(ctx)
	if err != nil {
		return err
	}
	strong, err := d.climb(ctx, d.true, d.table, d.sizes.strong, d.stream("strong", 0))
	if err != nil {
		return err
	}
	d.best = strong.value
	scale, err := d.finish()
	if err != nil {
		return err
	}
	d.candidateSolver = bfgsSolver{d, pool}
	d.evalSolver = d.candidateSolver
	d.theta = slices.Clone(d.true)
	floats.Scale(float64(d.env.Spec().Horizon)/scale, d.theta)
	d.known = func(theta []float64) []float64 { return theta[:len(theta)-1] } // no comparison can tell the constant's
	d.mse = d.errorOfQueries()
	return nil
}

// asSession builds the instance of a session, whose prior is that of sessions. The best
// return is that of many random starts.
func (d *driverInstance) asSession(ctx context.Context, e Experiment, s learning.Schedule) error {
	d.prior, d.theta = belief.Isotropic(len(d.true), 1), d.true
	strong, err := d.climb(ctx, d.true, d.table, d.sizes.strong, d.stream("strong", 0))
	if err != nil {
		return err
	}
	d.best = strong.value
	d.known = func(theta []float64) []float64 { return theta[:len(theta)-1] }
	d.live = &stage{
		seed: d.seed, schedule: s, kind: e.kind(), theta: d.true, best: d.best, prior: d.prior,
		mse: d.errorOfWeights(), cosine: d.cosine,
		newEnv: func() idrl.Environment { return driver.New() }, solver: solver.ActionSequence{}, mu: solver.Mu,
	}
	d.live.right, d.live.answers, d.live.made = e.Right, d.live.people, e.ClipsFrom == idrl.MadeClips
	return nil
}

// solvePool solves for the pool: policy i is the best of all that were found
// under the i-th weights. It returns what was found.
func (d *driverInstance) solvePool(ctx context.Context) (*solver.Table, error) {
	found := &solver.Table{}
	var thetas [][]float64
	draws := d.stream("pool weights", 0)
	for k := range d.sizes.pool {
		thetas = append(thetas, d.prior.Sample(nil, draws))
		p, err := d.climb(ctx, thetas[k], d.table, 1, d.stream("pool solve", k))
		if err != nil {
			return nil, err
		}
		found.Params, found.Mu = append(found.Params, p.params), append(found.Mu, p.mu)
	}
	for i, theta := range thetas {
		k, _ := found.Best(theta)
		d.enter(i, theta, found.Params[k], found.Mu[k])
	}
	return found, nil
}

// errorOfQueries returns the mean squared error of the expected answers to all
// candidate queries.
func (d *driverInstance) errorOfQueries() func([]float64) float64 {
	return func(mean []float64) float64 {
		diff := make([]float64, len(mean))
		floats.SubTo(diff, mean, d.theta)
		sum := 0.0
		for _, q := range d.queries {
			e := floats.Dot(diff, q.X)
			sum += e * e
		}
		return sum / float64(len(d.queries))
	}
}

// enter adds policy i to the pool. theta are the weights that it is optimal for.
func (d *driverInstance) enter(i int, theta, params, mu []float64) {
	mean := slices.Clone(mu)
	floats.Scale(1/float64(d.env.Spec().Horizon), mean)
	d.pool = append(d.pool, idrl.Candidate{
		ID: idrl.PolicyID(fmt.Sprintf("p%d", i)), Clip: idrl.ClipID(fmt.Sprintf("p%d", i)), Theta: theta, Params: params, Mu: mean,
	})
}

// finish makes the candidate queries, all pairs of the pool, and the expert: it
// prefers a with probability (1+r_a−r_b)/2, where r is the return scaled to
// [0, 1] over the pool. It returns the range of the returns.
func (d *driverInstance) finish() (scale float64, err error) {
	returns := make([]float64, len(d.pool))
	for i, c := range d.pool {
		returns[i] = floats.Dot(d.true, c.Mu) * float64(d.env.Spec().Horizon)
	}
	scale = floats.Max(returns) - floats.Min(returns)
	for i, a := range d.pool {
		for _, b := range d.pool[i+1:] {
			x := make([]float64, len(a.Mu))
			floats.SubTo(x, a.Mu, b.Mu)
			d.queries = append(d.queries, idrl.QueryVector{
				Query: idrl.Query{ID: idrl.QueryID(a.Clip + "|" + b.Clip), Kind: idrl.CompareClips, Clips: []idrl.ClipID{a.Clip, b.Clip}}, X: x,
			})
		}
	}
	task := sim.Task{Env: d.env.Spec().ID, Theta: d.true}
	expert, err := sim.NewExpert("bernoulli", task, sim.Options{Range: scale / float64(d.env.Spec().Horizon)})
	if err != nil {
		return 0, err
	}
	d.answer = func(q int, n uint64) idrl.Answer {
		return expert.Answer(d.queries[q], d.answerStream(q, n))
	}
	return scale, nil
}

// climb optimises the actions of a drive from random starts and from the best
// policy of the table, which it returns where nothing is better.
func (d *driverInstance) climb(ctx context.Context, theta []float64, table *solver.Table, restarts int, stream *rand.Rand) (policy, error) {
	k, _ := table.Best(theta)
	task := idrl.SolveTask{Env: d.env, Theta: theta, Warm: [][]float64{table.Params[k]}, Restarts: restarts}
	p, err := solver.ActionSequence{}.Solve(ctx, task, stream)
	if err != nil {
		return policy{}, err
	}
	return d.policy(p.Params(), solver.Mu(d.env, p, nil)), nil
}

func (d *driverInstance) policy(params, mu []float64) policy {
	return policy{params: params, mu: mu, value: floats.Dot(d.true, mu)}
}

// A bfgsSolver is the solver of the text: the optimiser with the candidate policies
// as lookup table.
type bfgsSolver struct {
	d     *driverInstance
	table *solver.Table
}

func (c bfgsSolver) optimal(ctx context.Context, theta []float64, stream *rand.Rand) (policy, error) {
	return c.d.climb(ctx, theta, c.table, 1, stream)
}
