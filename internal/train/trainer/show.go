package trainer

import (
	"context"
	"errors"
	"fmt"

	"tiebreak/internal/data/library"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
)

// Show returns the generation of policies that were trained elsewhere, of which Policy,
// Origin and Theta are set, and Mus if the features of episodes are known already: it rolls them out, and lists the questions about their clips
// and those of the pool. Of a follow-up (idrl.TrainJob.From), which may have a single policy,
// they are about the new policies. Errors are those of Train.
func (t *Thompson) Show(ctx context.Context, job idrl.TrainJob, policies []idrl.Candidate) (idrl.Generation, error) {
	fail := func(err error) (idrl.Generation, error) {
		return idrl.Generation{}, fmt.Errorf("show policies from answer %d: %w", job.BasedOn, err)
	}
	r := t.newRun(job)
	if err := r.check(); err != nil {
		return idrl.Generation{}, err
	}
	pool, err := t.poolFor(ctx, r)
	if err != nil {
		return fail(fmt.Errorf("pool: %w", err))
	}
	var candidates []idrl.Candidate
	var rollouts [][]rollout
	for _, c := range policies {
		c.ID = learning.CandidateID(job.BasedOn, job.From+len(candidates))
		s, err := r.try(ctx, c.ID, c.Policy, nil)
		if errors.Is(err, ErrBroken) {
			continue
		}
		if err != nil {
			return fail(fmt.Errorf("candidate %s: %w", c.ID, err))
		}
		if c.Mus != nil {
			s.mu, s.mus = library.Behaviour{Mus: c.Mus}.Mu(), c.Mus
		}
		candidates, rollouts = append(candidates, describe(c, s)), append(rollouts, s.rollouts)
	}
	if len(candidates) < 2 && (job.From == 0 || len(candidates) == 0) {
		return fail(fmt.Errorf("%d of %d policies are left, too few to compare: under the others %w", len(candidates), len(policies), ErrBroken))
	}
	g, err := r.generation(ctx, pool, candidates, rollouts, nil)
	if err != nil {
		return fail(err)
	}
	return g, nil
}

// describe returns c with what its rollouts tell.
func describe(c idrl.Candidate, s solved) idrl.Candidate {
	c.Policy, c.Params, c.Mu, c.Mus, c.Clip, c.Rollouts = s.policy, s.policy.Params(), s.mu, s.mus, s.opening().ID, s.names()
	return c
}
