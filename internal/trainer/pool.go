package trainer

import (
	"context"
	"fmt"

	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"

	"gonum.org/v1/gonum/floats"
)

// A pool is a set of policies that are optimal for reward weights drawn from
// N(0, I). It depends on the session's seed and not on any belief.
type pool struct {
	seed     uint64
	policies []solved
	rollouts [][]*idrl.Trajectory // of policies, in order
}

// poolFor returns the pool of r's seed, and builds it if it is not the last
// one used. A pool that ctx cut short is not kept.
func (t *Thompson) poolFor(ctx context.Context, r *run) (*pool, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.last != nil && t.last.seed == r.job.Seed {
		return t.last, nil
	}
	p, err := r.buildPool(ctx)
	if err != nil {
		return nil, err
	}
	t.last = p
	return p, nil
}

func (r *run) buildPool(ctx context.Context) (*pool, error) {
	p := &pool{seed: r.job.Seed}
	draws := rng.New(r.job.Seed, "pool weights", 0)
	theta := make([]float64, r.env.Spec().FeatureDim())
	for k := range r.poolSize {
		r.report(0, fmt.Sprintf("preparing policy %d of %d", k+1, r.poolSize))
		for i := range theta {
			theta[i] = draws.NormFloat64()
		}
		s, err := r.solve(ctx, theta, p.warm(theta, nil), rng.New(r.job.Seed, "pool solve", uint64(k)))
		if err != nil {
			return nil, fmt.Errorf("solve policy %d: %w", k, err)
		}
		ts, err := r.rollOut(idrl.PolicyID(fmt.Sprintf("pool.p%d", k)), s.policy)
		if err != nil {
			return nil, err
		}
		p.policies, p.rollouts = append(p.policies, s), append(p.rollouts, ts)
	}
	return p, nil
}

// warm returns warm starts for a solve: the policy of the pool with the highest
// return θ·μ, the first of equals, and then those given.
func (p *pool) warm(theta []float64, given [][]float64) [][]float64 {
	var out [][]float64
	best := -1
	for k, s := range p.policies {
		if best < 0 || floats.Dot(theta, s.mu) > floats.Dot(theta, p.policies[best].mu) {
			best = k
		}
	}
	if best >= 0 {
		out = append(out, p.policies[best].policy.Params())
	}
	return append(out, given...)
}

// PoolPolicies returns the policies of the pool for a session's seed, with the
// weights' Theta left out. It builds the pool if need be.
func (t *Thompson) PoolPolicies(ctx context.Context, seed uint64) ([]idrl.Candidate, error) {
	r := t.newRun(idrl.TrainJob{Seed: seed})
	p, err := t.poolFor(ctx, r)
	if err != nil {
		return nil, err
	}
	var out []idrl.Candidate
	for i, s := range p.policies {
		first := p.rollouts[i][0]
		out = append(out, idrl.Candidate{
			ID: first.Policy, Origin: idrl.FromSample,
			Policy: s.policy, Params: s.policy.Params(), Mu: s.mu, Clip: r.opening(first).ID,
		})
	}
	return out, nil
}
