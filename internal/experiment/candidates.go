package experiment

import (
	"context"
	"fmt"

	"tiebreak/internal/acquisition"
	"tiebreak/internal/idrl"
)

// candidates returns the policies that the method looks at, and says in in how
// many of them are the present candidates.
func (l *learner) candidates(ctx context.Context, in *acquisition.Input) ([]idrl.Candidate, error) {
	switch {
	case l.method.Name == "leader":
		out, err := l.duel(ctx)
		in.Candidates = len(out)
		return out, err
	case l.method.Archive:
		out, err := l.thompson(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, candidate(l.mean))
		for _, c := range out {
			l.archive.add(c)
		}
		in.Candidates = len(out)
		return l.withArchive(out), nil
	case l.method.Name == "idrl":
		return l.contenders(ctx, in)
	default:
		return nil, nil
	}
}

// contenders returns the candidates of Algorithm 1. The authors' Driver adds the
// mean-optimal policy to the Thompson policies.
func (l *learner) contenders(ctx context.Context, in *acquisition.Input) ([]idrl.Candidate, error) {
	if !l.paper {
		out, err := l.thompson(ctx)
		in.Candidates = len(out)
		return out, err
	}
	policies, err := l.sampled(ctx, samples)
	if err != nil {
		return nil, err
	}
	if len(l.pool) > 0 {
		p, err := l.optimal(ctx, l.w.Mean(nil), "mean", l.n)
		if err != nil {
			return nil, err
		}
		policies = append(policies, p)
	}
	var out []idrl.Candidate
	var met []visit
	for i, p := range policies {
		v := l.visits(p, l.stream("rollout", l.n*(samples+1)+i))
		c := candidate(p)
		c.Mu = v.counts
		out, met = append(out, c), append(met, v)
	}
	if in.Observed {
		in.Noise = func(i, j int) float64 { return met[i].noise(met[j], l.noiseVar) }
	}
	in.Candidates = len(out)
	return out, nil
}

// thompson returns the candidates of Thompson sampling: policies that are
// optimal for draws from the belief (the paper, Algorithm 2).
func (l *learner) thompson(ctx context.Context) ([]idrl.Candidate, error) {
	policies, err := l.sampled(ctx, samples)
	var out []idrl.Candidate
	for _, p := range policies {
		out = append(out, candidate(p))
	}
	return out, err
}

func (l *learner) sampled(ctx context.Context, n int) ([]policy, error) {
	p := l.w
	if l.noisy && (l.n > 0 || l.grounded()) {
		p = p.Predictive(l.noiseVar)
	}
	draws := l.stream("thompson", l.n)
	var out []policy
	for k := range n {
		s, err := l.optimal(ctx, p.Sample(nil, draws), "candidate", l.n*samples+k)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func (l *learner) optimal(ctx context.Context, theta []float64, purpose string, n int) (policy, error) {
	l.run.Solves++
	p, err := l.plan.optimal(ctx, theta, l.stream(purpose, n))
	if err != nil {
		return policy{}, fmt.Errorf("%s policy: %w", purpose, err)
	}
	return p, nil
}

// duelTries is the number of Thompson samples after which a duel takes a policy
// that equals the leader.
const duelTries = 5

// duel returns the leader and one Thompson policy that differs from it where a
// few samples give one.
func (l *learner) duel(ctx context.Context) ([]idrl.Candidate, error) {
	leader := candidate(l.mean)
	draws := l.stream("thompson", l.n)
	var other idrl.Candidate
	for k := range duelTries {
		p, err := l.optimal(ctx, l.w.Sample(nil, draws), "candidate", l.n*samples+k)
		if err != nil {
			return nil, err
		}
		other = candidate(p)
		if fingerprint(other.Mu) != fingerprint(leader.Mu) {
			break
		}
	}
	return []idrl.Candidate{leader, other}, nil
}

// withArchive returns the present candidates and then the archived policies that
// are none of them.
func (l *learner) withArchive(present []idrl.Candidate) []idrl.Candidate {
	var now archive
	for _, c := range present {
		now.add(c)
	}
	out := present
	for _, c := range l.archive.list {
		if !now.seen[fingerprint(c.Mu)] {
			out = append(out, c)
		}
	}
	return out
}

func candidate(p policy) idrl.Candidate {
	return idrl.Candidate{Params: p.params, Mu: p.mu, Clip: p.clip}
}
