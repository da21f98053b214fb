package trainer

import (
	"context"

	"tiebreak/internal/idrl"
)

// PoolPolicies returns the policies of the pool for a session's seed, without the
// weights that they are optimal for. It builds the pool if need be.
func (t *Thompson) PoolPolicies(ctx context.Context, seed uint64) ([]idrl.Candidate, error) {
	r := t.newRun(idrl.TrainJob{Seed: seed})
	p, err := t.poolFor(ctx, r)
	if err != nil {
		return nil, err
	}
	out := r.pooled(p)
	for i, s := range p.policies {
		out[i].Policy, out[i].Params = s.policy, s.policy.Params()
	}
	return out, nil
}

// Whims returns env with a feature for each state beside its own.
func Whims(env idrl.Tabular) idrl.Tabular { return newWithIndicators(env) }
