package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tiebreak/envs/corridor"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/plan/solver"
)

// A corridorSetup is a robot's corridor with what all seeds share. It does not change
// once it is prepared.
type corridorSetup struct {
	robot       robot
	spec        idrl.EnvSpec
	sizes       corridorSizes
	paper       bool
	every       int       // answers from one policy for the mean to the next
	explorer    []float64 // parameters of the policy that explores
	true        []float64 // weights
	prior       *belief.Gaussian
	cache       string             // folder for tables; "" for none
	envs        []idrl.Environment // of the preparation, one a worker
	fingerprint []float64          // features of an episode, which tell this corridor from another

	pool   *solver.Table // policies to start from; nil in paper mode
	strong []float64     // parameters of the policy that regret is measured against; nil in paper mode
}

// newCorridorSetup returns a setup that is to be prepared.
func newCorridorSetup(r robot, e Experiment, o Options) (*corridorSetup, error) {
	c := &corridorSetup{
		robot: r, sizes: o.corridorSizes(), paper: e.Mode == Paper, every: max(1, e.Measure), true: corridorWeights(),
		prior: belief.Isotropic(corridor.FeatureDim, corridorPriorVar), cache: o.Cache,
	}
	for range max(1, o.Workers) {
		env, err := r.newEnv()
		if err != nil {
			return nil, err
		}
		c.envs = append(c.envs, env)
	}
	c.spec = c.envs[0].Spec()
	var err error
	if c.explorer, err = r.explorer(); err != nil {
		return nil, err
	}
	explorer, err := solver.NewLinear(c.spec, c.explorer)
	if err != nil {
		return nil, fmt.Errorf("policy that explores: %w", err)
	}
	c.fingerprint = solver.Mu(c.envs[0], explorer, rng.New(tableSeed, "corridor witness", 0))
	return c, nil
}

// prepare makes the pool and the policy that regret is measured against. In the
// authors' code there is no pool, and every seed has a reference of its own.
func (c *corridorSetup) prepare(ctx context.Context, o Options) (err error) {
	if c.paper {
		return nil
	}
	report := func(what string, k, of int) {
		if o.Preparing != nil {
			o.Preparing(k, of, fmt.Sprintf("%s %d of %d", what, k, of))
		}
	}
	if c.pool, err = c.solvePool(ctx, report); err != nil {
		return err
	}
	c.strong, err = c.solveStrong(ctx, report)
	return err
}

// solvePool solves for the pool: the policy at rest, the one that explores, and
// policies for weights from the prior, each of which starts from the best of
// those before it. Finished ones are kept in the cache.
func (c *corridorSetup) solvePool(ctx context.Context, report func(string, int, int)) (*solver.Table, error) {
	key := c.key("pool", 0)
	known := 2
	t := c.load(key)
	if t == nil {
		t = &solver.Table{Params: [][]float64{c.rest(), c.explorer}}
		for i, params := range t.Params {
			p, err := solver.NewLinear(c.spec, params)
			if err != nil {
				return nil, err
			}
			t.Mu = append(t.Mu, solver.Mu(c.envs[0], p, rng.New(tableSeed, "corridor pool", uint64(i))))
		}
	}
	for k := t.Len(); k < known+c.sizes.pool; k++ {
		theta := c.prior.Sample(nil, rng.New(tableSeed, "corridor pool weights", uint64(k)))
		more, err := c.improve(ctx, t, theta, c.sizes.poolSteps, "corridor pool", uint64(k))
		if err != nil {
			return nil, err
		}
		t = t.Append(more)
		if err := c.save(key, t); err != nil {
			return nil, err
		}
		report("policy", k-known+1, c.sizes.pool)
	}
	return t, nil
}

// rest returns the parameters of the policy whose actions are 0, with which
// search begins.
func (c *corridorSetup) rest() []float64 { return make([]float64, c.spec.Actions.Dim()*c.spec.ObsDim) }

// solveStrong solves for the true weights, several times over.
func (c *corridorSetup) solveStrong(ctx context.Context, report func(string, int, int)) ([]float64, error) {
	key := c.key("strong", 0)
	if t := c.load(key); t != nil {
		return t.Params[0], nil
	}
	t := c.pool
	for k := range c.sizes.strong {
		more, err := c.improve(ctx, t, c.true, c.spec.Search.Iterations, "corridor strong", uint64(k))
		if err != nil {
			return nil, err
		}
		t = t.Append(more)
		report("policy for the true reward, solve", k+1, c.sizes.strong)
	}
	i, _ := t.Best(c.true)
	return t.Params[i], c.save(key, &solver.Table{Params: t.Params[i : i+1], Mu: t.Mu[i : i+1]})
}

// improve solves for theta from the best policy of t, and returns the table of
// what it finds: that policy itself if the simulation breaks down with all.
func (c *corridorSetup) improve(ctx context.Context, t *solver.Table, theta []float64, iterations int, purpose string, n uint64) (*solver.Table, error) {
	i, _ := t.Best(theta)
	task := idrl.SolveTask{Env: c.envs[0], Theta: theta, Warm: [][]float64{t.Params[i]}}
	p, mu, err := c.search(iterations).SolveMu(ctx, task, rng.New(tableSeed, purpose, n))
	if errors.Is(err, solver.ErrBroken) {
		return &solver.Table{Params: t.Params[i : i+1], Mu: t.Mu[i : i+1]}, nil
	}
	if err != nil {
		return nil, err
	}
	return &solver.Table{Params: [][]float64{p.Params()}, Mu: [][]float64{mu}}, nil
}

// search returns the search of the preparation, which has all workers.
func (c *corridorSetup) search(iterations int) solver.ARS {
	a := withWorkers(solver.ARSFor(c.spec), c.envs)
	a.Iterations = iterations
	return a
}

// reference returns the parameters of the policy that regret is measured against
// on a seed. In the authors' code it is what one solve from scratch finds.
func (c *corridorSetup) reference(ctx context.Context, w *corridorInstance) ([]float64, error) {
	if !c.paper {
		return c.strong, nil
	}
	key := c.key("reference", w.seed)
	if t := c.load(key); t != nil {
		return t.Params[0], nil
	}
	a := withWorkers(solver.ARSFor(c.spec), w.envs)
	p, mu, err := a.SolveMu(ctx, idrl.SolveTask{Env: w.env, Theta: c.true}, w.stream("judge of the truth", 0))
	if err != nil {
		return nil, err
	}
	return p.Params(), c.save(key, &solver.Table{Params: [][]float64{p.Params()}, Mu: [][]float64{mu}})
}

// key names all that a table of a corridor is made from. Raise the version when
// the way in which it is made changes.
func (c *corridorSetup) key(what string, seed uint64) string {
	const version = 1
	b, err := json.Marshal(struct {
		Version           int
		What              string
		Seed              uint64
		Env               string
		Search            idrl.Search
		Pool, Steps, Runs int
		Explorer, Witness []float64
	}{version, what, seed, c.spec.ID, c.spec.Search, c.sizes.pool, c.sizes.poolSteps, c.sizes.strong, c.explorer, c.fingerprint})
	if err != nil {
		panic(err) // numbers that are finite, and words
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// load returns the table of a key, nil if it is not in the cache.
func (c *corridorSetup) load(key string) *solver.Table {
	if c.cache == "" {
		return nil
	}
	t, err := solver.LoadTable(c.path(key), key)
	if err != nil {
		return nil
	}
	return t
}

// save puts a table into the cache.
func (c *corridorSetup) save(key string, t *solver.Table) error {
	if c.cache == "" {
		return nil
	}
	if err := os.MkdirAll(c.cache, 0o755); err != nil {
		return err
	}
	return solver.SaveTable(c.path(key), key, t)
}

func (c *corridorSetup) path(key string) string {
	return filepath.Join(c.cache, c.spec.ID+"-"+key[:16]+".table")
}
