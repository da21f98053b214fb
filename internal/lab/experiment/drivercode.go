package experiment

import (
	"context"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
)

// asInCode builds the instance of the authors' code. Source: docs/paper-code.md,
// section 1.5 (Driver), 2 (two posteriors, grounding) and 4 (pre-processing).
func (d *driverInstance) asInCode(ctx context.Context) error {
	d.grounded, d.noiseVar, d.draws = true, comparisonNoiseVar, d.sizes.draws
	ground := d.ground(d.stream("grounding", 0))
	start := belief.Isotropic(len(d.true), driverPriorVar)
	d.prior = start.ConditionOnValue(ground, 0, groundingVar)
	d.weights = start.ConditionOnValue(ground, 0, comparisonNoiseVar)
	d.model = belief.Model{Start: d.prior, Comparison: belief.PlusMinus{NoiseVar: comparisonNoiseVar}}
	d.evalSolver = restart{d, d.table}
	best, err := d.evalSolver.optimal(ctx, d.true, d.stream("judge of the truth", 0))
	if err != nil {
		return err
	}
	d.best = best.value
	if err := d.collapse(ctx); err != nil {
		return err
	}
	if _, err := d.finish(); err != nil {
		return err
	}
	d.theta = d.true
	d.mse = d.errorOfWeights()
	d.visits = d.visit
	d.hard = func(ctx context.Context, theta []float64, stream *rand.Rand) ([]float64, error) {
		p, err := d.once(ctx, theta, stream)
		return p.params, err
	}
	return nil
}

// errorOfWeights returns the mean squared error of the believed weights.
func (d *driverInstance) errorOfWeights() func([]float64) float64 {
	return func(mean []float64) float64 {
		e := floats.Distance(mean, d.theta, 2)
		return e * e / float64(len(mean))
	}
}

// ground returns the features of the step that follows a random action with
// another one.
func (d *driverInstance) ground(stream *rand.Rand) []float64 {
	spec := d.env.Spec()
	d.env.Reset(stream)
	var phi []float64
	for range 2 {
		a := make(idrl.Action, spec.Actions.Dim())
		for i := range a {
			a[i] = spec.Actions.Low[i] + (spec.Actions.High[i]-spec.Actions.Low[i])*stream.Float64()
		}
		phi = d.env.Step(a).Phi
	}
	return slices.Clone(phi)
}

// collapse makes the pool of candidate policies, each optimal for weights from
// the prior, after replaceWorse has gone over them.
func (d *driverInstance) collapse(ctx context.Context) error {
	draws := d.stream("pool weights", 0)
	var thetas [][]float64
	var policies []policy
	for k := range d.sizes.pool {
		thetas = append(thetas, d.weights.Sample(nil, draws))
		p, err := restart{d, d.table}.optimal(ctx, thetas[k], d.stream("pool solve", k))
		if err != nil {
			return err
		}
		policies = append(policies, p)
	}
	replaceWorse(thetas, policies)
	pool := &solver.Table{}
	for i, p := range policies {
		d.enter(i, thetas[i], p.params, p.mu)
		pool.Params, pool.Mu = append(pool.Params, p.params), append(pool.Mu, p.mu)
	}
	d.candidateSolver = restart{d, d.table.Append(pool)}
	return nil
}

// replaceWorse goes once over all pairs of policies, in order, and wherever the
// second is better under the weights of the first makes the first and its weights
// those of the second.
func replaceWorse(thetas [][]float64, policies []policy) {
	for i := range policies {
		for j := range policies {
			if floats.Dot(thetas[i], policies[j].mu) > floats.Dot(thetas[i], policies[i].mu) {
				policies[i], thetas[i] = policies[j], thetas[j]
			}
		}
	}
}

// once runs the optimiser from one random start.
func (d *driverInstance) once(ctx context.Context, theta []float64, stream *rand.Rand) (policy, error) {
	p, err := solver.ActionSequence{}.Solve(ctx, idrl.SolveTask{Env: d.env, Theta: theta, Restarts: 1}, stream)
	if err != nil {
		return policy{}, err
	}
	return d.policy(p.Params(), solver.Mu(d.env, p, nil)), nil
}

// A restart is the authors' solver: one random start, or the best policy of a
// table where that is better.
type restart struct {
	d     *driverInstance
	table *solver.Table
}

func (r restart) optimal(ctx context.Context, theta []float64, stream *rand.Rand) (policy, error) {
	p, err := r.d.once(ctx, theta, stream)
	if err != nil {
		return policy{}, err
	}
	if k, value := r.table.Best(theta); value > floats.Dot(theta, p.mu) {
		p = r.d.policy(r.table.Params[k], r.table.Mu[k])
	}
	return p, nil
}

// visit returns the features of the steps of a drive.
func (d *driverInstance) visit(p policy, stream *rand.Rand) visitation {
	v := visitation{counts: make([]float64, len(d.true))}
	drive, err := solver.FromParams(d.env, p.params)
	if err != nil {
		panic(err) // a solver has returned it
	}
	for _, step := range idrl.EpisodeOf(d.env, drive, stream) {
		if step.Kind == idrl.First {
			continue
		}
		floats.Add(v.counts, step.Phi)
		v.steps = append(v.steps, slices.Clone(step.Phi))
	}
	return v
}
