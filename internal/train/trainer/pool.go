package trainer

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// A pool is a set of policies that are optimal for independent reward weights, normal
// with mean 0 and the standard deviations of the prior, and of others whose walks differ from theirs. It depends on the
// session's seed and on no posterior.
type pool struct {
	seed     uint64
	policies []solved
	added    int // of the policies, the last ones, which sessions of earlier versions did not have
}

// rollouts returns those of each policy.
func (p *pool) rollouts() [][]rollout {
	out := make([][]rollout, len(p.policies))
	for i, s := range p.policies {
		out[i] = s.rollouts
	}
	return out
}

// poolFor returns the pool of r's seed, and builds it if it is not the last
// one used. A pool that ctx cut short is not kept.
func (t *Thompson) poolFor(ctx context.Context, r *run) (*pool, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.last != nil && t.last.seed == r.job.Seed {
		r.now.Pool = r.before.Pool
		return t.last, nil
	}
	build := r.buildPool
	if t.Stock != nil {
		build = func(ctx context.Context) (*pool, error) {
			stock, err := t.Stock.get(ctx, nil)
			return &pool{seed: r.job.Seed, policies: stock.policies, added: max(0, len(stock.policies)-shownOnce)}, err
		}
	}
	if r.given != nil {
		build = r.givenPool
	}
	p, err := build(ctx)
	if err != nil {
		return nil, err
	}
	t.last = p
	return p, nil
}

// Where the trainer knows what is useless, the pool has at most mostUseless policies whose openings show the same
// useless thing, and is looked for among poolTries times as many: most policies for random weights may do nothing
// that a person would want.
const (
	mostUseless = 3
	poolTries   = 3
)

// buildPool solves for the policies of the pool one after another. Those under
// which the simulation breaks down are left out.
func (r *run) buildPool(ctx context.Context) (*pool, error) {
	p := &pool{seed: r.job.Seed}
	r.prepared = r.poolSize
	draws := rng.New(r.job.Seed, "pool weights", 0)
	theta := make([]float64, r.env.Spec().FeatureDim())
	tries, useless := r.poolSize, map[string]int{}
	if r.useless != nil {
		tries *= poolTries
	}
	for k := 0; k < tries && len(p.policies) < r.poolSize; k++ {
		n := len(p.policies)
		r.report(n-r.poolSize, fmt.Sprintf("preparing policy %d of %d", n+1, r.poolSize))
		for i := range theta {
			theta[i] = draws.NormFloat64()
		}
		if r.priorScale != nil {
			floats.Mul(theta, r.priorScale)
		}
		s, err := r.prepareOnce(ctx, k, theta, p.policies)
		if errors.Is(err, ErrBroken) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("policy %d: %w", k, err)
		}
		is, err := r.showsUseless(&s)
		if err != nil {
			return nil, err
		}
		if useless[is]++; is == "" || useless[is] <= mostUseless {
			p.policies = append(p.policies, s)
		}
	}
	return p, r.wander(ctx, p)
}

// showsUseless returns the name of what the opening of s shows if that is known to be useless, else nothing.
func (r *run) showsUseless(s *solved) (string, error) {
	if r.useless == nil {
		return "", nil
	}
	clips := s.rollouts[0].clips
	if err := r.drawOne(&clips[0]); err != nil {
		return "", err
	}
	return r.useless(clips[0]), nil
}

// givenPool returns the policies that are given, with their rollouts.
func (r *run) givenPool(ctx context.Context) (*pool, error) {
	p := &pool{seed: r.job.Seed}
	r.prepared = len(r.given)
	for k, given := range r.given {
		r.report(k-len(r.given), fmt.Sprintf("reading policy %d of %d", k+1, len(r.given)))
		s, err := r.try(ctx, poolID(k), given, nil)
		if err != nil {
			return nil, fmt.Errorf("policy %d: %w", k, err)
		}
		p.policies = append(p.policies, s)
	}
	return p, nil
}

// prepare returns policy k of the pool, given those before it.
func (r *run) prepare(ctx context.Context, k int, theta []float64, before []solved) (solved, error) {
	s, task := r.solver, r.task(r.env, theta, starts(before, theta))
	if r.first != nil {
		s, task.Warm = r.first, nil
	}
	p, err := s.Solve(ctx, task, rng.New(r.job.Seed, "pool solve", uint64(k)))
	if err != nil {
		return solved{}, fmt.Errorf("solve: %w", err)
	}
	return r.try(ctx, poolID(k), p, before)
}

const poolPrefix = "pool.p"

func poolID(k int) idrl.PolicyID { return idrl.PolicyID(poolPrefix + strconv.Itoa(k)) }

// PoolPlace returns the place in the pool of the policy with that id, from 0; ok is false if it is
// none of the pool.
func PoolPlace(id idrl.PolicyID) (k int, ok bool) {
	digits, ok := strings.CutPrefix(string(id), poolPrefix)
	k, err := strconv.Atoi(digits)
	return k, ok && err == nil
}

// pooled returns what a session keeps of the pool's policies.
func (r *run) pooled(p *pool) []idrl.Candidate {
	origin := idrl.FromPrior
	if r.first != nil {
		origin = idrl.FromDraft
	}
	if r.given != nil {
		origin = idrl.FromGiven
	}
	var out []idrl.Candidate
	for _, s := range p.policies {
		out = append(out, idrl.Candidate{ID: s.id, Origin: origin, Mu: s.mu, Clip: s.opening().ID, Rollouts: s.names()})
	}
	return out
}
