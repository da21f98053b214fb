package trainer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

	madeRestarts = 2 // random starts of a solve for a clip
)

// A Steer returns a policy that is to make θ·Σφ of a task large over n steps of an episode from step from on.
type Steer func(ctx context.Context, task idrl.SolveTask, from, n int, stream *rand.Rand) (idrl.Policy, error)

// A maker makes clips that tell much of the differences between the leader and its rivals.
type maker struct {
	*run
	known []solved            // policies of the pool
	cuts  *Stock              // where clips are looked for; nil where they are made by steer
	made  map[string]*rollout // by direction
	list  []rollout           // in the order they were made, without those whose clips are there already
}

// makeClips returns rollouts with clips that the policies do not show, made to tell most of which of them is the
// best: pairs of clips whose difference x makes |Cx|²/(xᵀΣx + σ²) large, LVAR's value for answers with Gaussian noise
// σ, where the rows of C are the directions of acquisition.Directions. From each of the first rivals it goes uphill: a
// round takes the clips that are the most and the least along the gradient at the pair of the round before. There
// are none in a first generation, whose questions set what is taken for the noise of answers, nor under learnt features.
func (r *run) makeClips(ctx context.Context, p *pool, candidates []idrl.Candidate, cuts *Stock) ([]rollout, error) {
	if r.steer == nil && cuts == nil || r.job.First || r.job.From > 0 || r.job.Features != nil || r.kind.Still() {
		return nil, nil
	}
	policies, m := slices.Clone(candidates), maker{run: r, known: p.policies, cuts: cuts, made: map[string]*rollout{}}
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
		if x == nil {
			return nil
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
// features; of a rating, where one clip is the question, the features of the one with more to tell. It is nil if there
// are none.
func (m *maker) pair(ctx context.Context, direction []float64) ([]float64, error) {
	most, err := m.clip(ctx, direction)
	if err != nil || most == nil {
		return nil, err
	}
	back := make([]float64, len(direction))
	floats.ScaleTo(back, -1, direction)
	least, err := m.clip(ctx, back)
	if err != nil || least == nil {
		return nil, err
	}
	a, b := most.clips[0].Phi, least.clips[0].Phi
	if m.kind.Comparison() {
		return floats.SubTo(back, a, b), nil
	}
	if floats.Dot(direction, a) >= -floats.Dot(direction, b) {
		return a, nil
	}
	return b, nil
}

// clip makes the clip that is the most along a direction; nil if the simulation breaks down.
func (m *maker) clip(ctx context.Context, direction []float64) (best *rollout, err error) {
	key := fmt.Sprint(direction)
	if ro, known := m.made[key]; known {
		return ro, nil
	}
	if m.cuts != nil {
		best, err = m.cuts.along(ctx, direction)
	} else {
		best, err = m.steered(ctx, direction)
	}
	if err != nil {
		return nil, fmt.Errorf("make a clip: %w", err)
	}
	m.made[key] = best
	if best != nil && !slices.ContainsFunc(m.list, func(ro rollout) bool { return ro.clips[0].ID == best.clips[0].ID }) {
		m.list = append(m.list, *best)
	}
	return best, nil
}

// steered returns the clip that is the most along a direction of those of policies that are steered there.
func (m *maker) steered(ctx context.Context, direction []float64) (best *rollout, err error) {
	for _, from := range m.begins() {
		task := idrl.SolveTask{Env: m.env, Theta: direction, Warm: starts(m.known, direction), Restarts: madeRestarts}
		policy, err := m.steer(ctx, task, from, m.length(), rng.New(m.job.Seed, fmt.Sprintf("make %d", len(m.made)), uint64(m.job.BasedOn)))
		if errors.Is(err, ErrBroken) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for n := range m.rollouts {
			ro, err := m.play(ctx, policy, from, n)
			if errors.Is(err, ErrBroken) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if best == nil || floats.Dot(direction, ro.clips[0].Phi) > floats.Dot(direction, best.clips[0].Phi) {
				best = ro
			}
		}
	}
	return best, nil
}

// length is the number of steps of a clip.
func (m *maker) length() int {
	return min(cmp.Or(m.env.Spec().ClipSteps, m.env.Spec().Horizon), m.env.Spec().Horizon)
}

// begins returns the steps of an episode from which clips are made: its start, and as late as another clip would
// end, so that it may begin elsewhere.
func (m *maker) begins() []int {
	if n := m.length(); m.env.Spec().Horizon >= 2*n {
		return []int{0, n}
	}
	return []int{0}
}

// play returns the n-th rollout of a policy, with the clip that begins at a step.
func (m *maker) play(ctx context.Context, p idrl.Policy, from, n int) (*rollout, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id := idrl.PolicyID(fmt.Sprintf("made%d-%d", m.job.BasedOn, len(m.made)))
	t, err := m.episode(id, p, n)
	if err != nil {
		return nil, err
	}
	if t.Len() < from+m.length() { // the episode ended before
		from = max(0, t.Len()-m.length())
	}
	return m.rolled(t, n, from)
}

// rolled returns the rollout of the n-th episode of a policy, with the clip that begins at a step.
func (r *simulation) rolled(t *idrl.Trajectory, n, from int) (*rollout, error) {
	ro := &rollout{n: n}
	if r.steps != nil {
		var err error
		if t.Raw, ro.raw, err = r.steps(t, uint64(n)); err != nil {
			return nil, fmt.Errorf("steps of trajectory %s: %w", t.ID, err)
		}
	}
	ro.clips = []idrl.Clip{idrl.Segment(t, from, r.clipLen(t))}
	return ro, nil
}
