package experiment

import (
	"context"
	"fmt"

	"tiebreak/internal/acquisition"
	"tiebreak/internal/belief"
	"tiebreak/internal/idrl"
)

// samples is N, the number of Thompson policies of a step, as in the paper.
const samples = 5

// A panel is the policies that a method looks at in a step.
type panel struct {
	policies []idrl.Candidate       // Π_c, and behind it what is left of the archive
	present  int                    // of policies are Π_c
	noise    func(i, j int) float64 // acquisition.Input.Noise; nil but for IDRL in paper mode
}

// candidates returns the policies that the method looks at: none for those of
// Algorithm 3. They may be the same for several answers.
func (l *learner) candidates(ctx context.Context) (panel, error) {
	if !l.due() {
		return l.panel, nil
	}
	c, err := l.updated(ctx)
	l.panel = c
	return c, err
}

// due reports whether the candidate policies are to be updated before the next
// answer: as often in the run as the world says, evenly, and first of all.
func (l *learner) due() bool {
	if l.updates == 0 || l.n == 0 {
		return true
	}
	return l.n*l.updates/l.answers > (l.n-1)*l.updates/l.answers
}

// updated returns new policies for the method to look at.
func (l *learner) updated(ctx context.Context) (panel, error) {
	switch needs := l.method.Needs; {
	case needs.Candidates == acquisition.Samples && l.paper:
		return l.visited(ctx)
	case needs.Candidates == acquisition.Samples:
		policies, err := l.thompson(ctx)
		out := described(policies)
		return panel{policies: out, present: len(out)}, err
	case needs.Candidates == acquisition.SamplesAndMean:
		return l.remembered(ctx)
	case needs.Candidates == acquisition.Duel:
		return l.duel(ctx)
	default:
		return panel{}, nil
	}
}

// thompson is Thompson sampling, Algorithm 2 of the paper (label "alg:ts"). It
// returns Π_c, N policies that are optimal for draws from the belief.
func (l *learner) thompson(ctx context.Context) ([]policy, error) {
	p, draws := l.drawnFrom(), l.stream("thompson", l.n)
	var out []policy // Π_c ← {}
	for i := range samples {
		r := p.Sample(nil, draws)                                  // r_i ~ P(r|D)
		best, err := l.optimal(ctx, r, "candidate", l.n*samples+i) // π_i* ← RL(r_i)
		if err != nil {
			return nil, err
		}
		out = append(out, best) // Π_c ← Π_c ∪ {π_i*}
	}
	l.latest = out
	return out, nil
}

// drawnFrom returns the belief that Thompson samples are drawn from. In the
// authors' tabular experiments they carry observation noise, once there is an
// observation. Source: docs/paper-code.md, section 2.
func (l *learner) drawnFrom() *belief.Gaussian {
	if l.noisy && l.observed() {
		return l.w.Predictive(l.noiseVar)
	}
	return l.w
}

// optimal is RL(r): it solves for a candidate.
func (l *learner) optimal(ctx context.Context, r []float64, purpose string, n int) (policy, error) {
	p, err := startingFrom(l.plan, l.latest).optimal(ctx, r, l.stream(purpose, n))
	if err != nil {
		return policy{}, fmt.Errorf("%s policy: %w", purpose, err)
	}
	l.charge(p)
	return p, nil
}

// visited returns the candidates of the authors' code: Thompson policies, and in
// Driver the mean-optimal one too, each with what one rollout of it met in place
// of its feature expectation.
func (l *learner) visited(ctx context.Context) (panel, error) {
	policies, err := l.thompson(ctx)
	if err != nil {
		return panel{}, err
	}
	if len(l.pool) > 0 {
		p, err := l.optimal(ctx, l.w.Mean(nil), "mean", l.n)
		if err != nil {
			return panel{}, err
		}
		policies = append(policies, p)
	}
	out := described(policies)
	met := make([]visit, len(policies))
	for i, p := range policies {
		met[i] = l.visits(p, l.stream("rollout", l.n*(samples+1)+i))
		out[i].Mu = met[i].counts
	}
	noise := func(i, j int) float64 { return met[i].noise(met[j], l.noiseVar) }
	return panel{policies: out, present: len(out), noise: noise}, nil
}

// remembered returns the Thompson policies and the mean-optimal one, and behind
// them every other policy that was solved for. Source: docs/methods.md, section
// 1.3.
func (l *learner) remembered(ctx context.Context) (panel, error) {
	policies, err := l.thompson(ctx)
	if err != nil {
		return panel{}, err
	}
	present := described(append(policies, l.mean))
	var now archive
	for _, c := range present {
		now.add(c)
		l.archive.add(c)
	}
	out := present
	for _, c := range l.archive.list {
		if !now.seen[fingerprint(c.Mu)] {
			out = append(out, c)
		}
	}
	return panel{policies: out, present: len(present)}, nil
}

// duelTries is the number of Thompson samples after which a duel takes a policy
// that equals the leader.
const duelTries = 5

// duel returns the leader, which is the mean-optimal policy, and one Thompson
// policy that differs from it where a few samples give one. Source:
// docs/methods.md, section 1.4.
func (l *learner) duel(ctx context.Context) (panel, error) {
	p, draws := l.drawnFrom(), l.stream("thompson", l.n)
	out := described([]policy{l.mean, {}})
	for i := range duelTries {
		other, err := l.optimal(ctx, p.Sample(nil, draws), "candidate", l.n*samples+i)
		if err != nil {
			return panel{}, err
		}
		out[1] = other.candidate()
		if fingerprint(out[1].Mu) != fingerprint(out[0].Mu) {
			break
		}
	}
	return panel{policies: out, present: len(out)}, nil
}

// described returns policies as acquisition functions know them.
func described(policies []policy) []idrl.Candidate {
	out := make([]idrl.Candidate, len(policies))
	for i, p := range policies {
		out[i] = p.candidate()
	}
	return out
}

func (p policy) candidate() idrl.Candidate {
	return idrl.Candidate{Params: p.params, Mu: p.mu}
}
