package experiment

import (
	"context"
	"fmt"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/learning"
)

// samples is N, the number of Thompson policies of a step, as in the paper.
const samples = 5

// candidates gives the learner the policies that the method looks at, where they are to
// be updated: none for those of Algorithm 3.
func (l *learner) candidates(ctx context.Context) error {
	needs := l.method.Needs.Candidates
	if needs == acquisition.NoCandidates || !l.due() {
		return nil
	}
	if l.paper && len(l.pool) > 0 {
		needs = acquisition.SamplesAndMean // as in the authors' Driver
	}
	policies, err := l.thompson(ctx, needs)
	if err != nil {
		return err
	}
	out := described(policies)
	if l.paper {
		l.visited(policies, out)
	}
	l.core.Adopt(nil, out)
	return nil
}

// due reports whether the candidate policies are to be updated before the next
// answer: as often in the run as the instance says, evenly, and first of all.
func (l *learner) due() bool {
	if l.updates == 0 || l.n == 0 {
		return true
	}
	return l.n*l.updates/l.answers > (l.n-1)*l.updates/l.answers
}

// thompson returns Π_c: for a duel the mean-optimal policy and one that is optimal for
// a draw from the belief; else N that are optimal for draws and, where it is needed, the
// mean-optimal one.
func (l *learner) thompson(ctx context.Context, need acquisition.Candidates) (out []policy, err error) {
	duel := need == acquisition.Duel
	err = learning.Thompson(need, samples, l.drawnFrom(), l.stream("thompson", l.n), func(k int, r []float64, origin idrl.Origin) (bool, error) {
		if origin == idrl.FromMean {
			p, err := l.forMean(ctx)
			out = append(out, p)
			return false, err
		}
		if duel {
			k, out = k-1, out[:1]
		}
		best, err := l.optimal(ctx, r, "candidate", l.n*samples+k) // π_i* ← RL(r_i)
		if err != nil {
			return false, err
		}
		out = append(out, best) // Π_c ← Π_c ∪ {π_i*}
		if !duel && len(out) == samples {
			l.latest = out
		}
		return duel && !learning.Alike(out[0].mu, best.mu), nil
	})
	return out, err
}

// forMean returns the mean-optimal policy: the one that was measured last, but in the
// authors' code another solve.
func (l *learner) forMean(ctx context.Context) (policy, error) {
	if l.paper {
		return l.optimal(ctx, l.core.Solving().Mean(nil), "mean", l.n)
	}
	return l.mean, nil
}

// drawnFrom returns the belief that Thompson samples are drawn from. In the
// authors' tabular experiments they carry observation noise, once there is an
// observation. Source: docs/paper-code.md, section 2.
func (l *learner) drawnFrom() idrl.Posterior {
	p := l.core.Solving()
	if l.noisy && l.observed() {
		return p.(*belief.Gaussian).Predictive(l.noiseVar)
	}
	return p
}

// optimal is RL(r): it solves for a candidate.
func (l *learner) optimal(ctx context.Context, r []float64, purpose string, n int) (policy, error) {
	p, err := startingFrom(l.candidateSolver, l.latest).optimal(ctx, r, l.stream(purpose, n))
	if err != nil {
		return policy{}, fmt.Errorf("%s policy: %w", purpose, err)
	}
	l.charge(p)
	return p, nil
}

// visited describes candidates as the authors' code does: with what one rollout of
// each met in place of its feature expectation.
func (l *learner) visited(policies []policy, out []idrl.Candidate) {
	met := make([]visitation, len(policies))
	for i, p := range policies {
		met[i] = l.visits(p, l.stream("rollout", l.n*(samples+1)+i))
		out[i].Mu = met[i].counts
	}
	l.noise = func(i, j int) float64 { return met[i].noise(met[j], l.noiseVar) }
}

// described returns policies as acquisition functions know them.
func described(policies []policy) []idrl.Candidate {
	out := make([]idrl.Candidate, len(policies))
	for i, p := range policies {
		out[i] = idrl.Candidate{Params: p.params, Mu: p.mu}
	}
	return out
}
