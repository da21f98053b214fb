package trainer

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// Bounds on the clips that are made for a generation (docs/methods.md, section 1.6).
const (
	madeRivals = 4 // rivals that a pair of clips is sought for, at most
	madeRounds = 3 // of improving a pair, at most
)

// A Steer returns a policy that maximises the expected θ·Σφ over the n steps of an episode that begin with step from.
type Steer func(theta []float64, from, n int) idrl.Policy

// A maker makes clips that are informative about the differences between the leader and its rivals.
type maker struct {
	*run
	list []rollout // one for each clip, in the order they were made
}

// makeClips returns rollouts with clips that the policies do not show, made to tell most of which of them is the
// best: pairs of clips whose difference x makes |Cx|²/(xᵀΣx + σ²) large, LVAR's value for answers with Gaussian noise
// σ, where the rows of C are the directions of acquisition.Directions. From each of the first rivals it goes uphill: a
// round takes the clips that are the most and the least along the gradient at the pair of the round before. There
// are none in a first generation, whose questions set what is taken for the noise of answers, nor under learnt features.
func (r *run) makeClips(ctx context.Context, p *pool, candidates []idrl.Candidate) ([]rollout, error) {
	if r.steer == nil || r.job.First || r.job.From > 0 || r.job.Features != nil || r.kind.Still() {
		return nil, nil
	}
	policies, m := slices.Clone(candidates), maker{run: r}
	for _, s := range p.policies {
		policies = append(policies, idrl.Candidate{ID: s.id, Mu: s.mu})
	}
	c := acquisition.Directions(r.job.Posterior, policies, rng.New(r.job.Seed, "made", uint64(r.job.BasedOn)))
	for k := range min(c.Rows, madeRivals) {
		if err := m.climb(ctx, c, c.Data[k*c.Stride:][:c.Cols]); err != nil {
			return nil, err
		}
	}
	return m.list, nil
}

// climb makes pairs of clips, the first along a direction.
func (m *maker) climb(ctx context.Context, c blas64.General, direction []float64) error {
	var last float64
	for range madeRounds {
		x, err := m.pair(ctx, direction)
		if err != nil {
			return err
		}
		cx := make([]float64, c.Rows)
		blas64.Gemv(blas.NoTrans, 1, c, vector(x), 0, vector(cx))
		direction = make([]float64, c.Cols) // Σx at first
		m.job.Posterior.CovMul(direction, x)
		value := floats.Dot(cx, cx) / (floats.Dot(x, direction) + m.noise*m.noise)
		if !(value > last*(1+1e-9)) {
			return nil
		}
		last = value
		blas64.Gemv(blas.Trans, 1, c, vector(cx), -value, vector(direction))
	}
	return nil
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// pair makes the clips that are the most and the least along a direction, and returns the difference of their
// features; of a rating, where one clip is the question, the features of the one with more to tell.
func (m *maker) pair(ctx context.Context, direction []float64) ([]float64, error) {
	a, err := m.clip(ctx, direction)
	if err != nil {
		return nil, err
	}
	back := floats.ScaleTo(make([]float64, len(direction)), -1, direction)
	b, err := m.clip(ctx, back)
	if err != nil {
		return nil, err
	}
	if m.kind.Comparison() {
		return floats.SubTo(back, a, b), nil
	}
	if floats.Dot(direction, a) >= -floats.Dot(direction, b) {
		return a, nil
	}
	return b, nil
}

// clip makes the clip that is the most along a direction, of the rollouts of two policies: one whose clip opens the
// episode, and one that may go elsewhere before it begins. It returns its features.
func (m *maker) clip(ctx context.Context, direction []float64) ([]float64, error) {
	n := min(cmp.Or(m.env.Spec().ClipSteps, m.env.Spec().Horizon), m.env.Spec().Horizon)
	begins := []int{0, n}
	if m.env.Spec().Horizon < 2*n {
		begins = begins[:1]
	}
	var best *idrl.Clip
	var of *idrl.Trajectory
	var episode int
	for _, from := range begins {
		policy := m.steer(direction, from, n)
		for k := range m.rollouts {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			t, err := m.episode(idrl.PolicyID(fmt.Sprintf("made%d-%d", m.job.BasedOn, len(m.list))), policy, k)
			if err != nil {
				return nil, fmt.Errorf("make a clip: %w", err)
			}
			c := idrl.Segment(t, min(from, max(0, t.Len()-n)), min(n, t.Len()))
			if best == nil || floats.Dot(direction, c.Phi) > floats.Dot(direction, best.Phi) {
				best, of, episode = &c, t, k
			}
		}
	}
	if slices.ContainsFunc(m.list, func(ro rollout) bool { return ro.clips[0].ID == best.ID }) {
		return best.Phi, nil
	}
	made := rollout{n: episode}
	if m.steps != nil {
		var err error
		if best.Raw, made.raw, err = m.steps(of, uint64(episode)); err != nil {
			return nil, fmt.Errorf("steps of trajectory %s: %w", of.ID, err)
		}
	}
	made.clips = []idrl.Clip{*best}
	m.list = append(m.list, made)
	return best.Phi, nil
}
