package trainer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/representation"

	"gonum.org/v1/gonum/floats"
)

// ErrBroken says that a policy has no episode in which the simulation holds. A solver returns an error that wraps it if it
// found no other policy.
var ErrBroken = errors.New("the simulation breaks down in every episode")

// A rollout is the n-th episode of a policy, as it is kept. The n-th rollouts of all
// policies share a stream, so that they begin in the same state.
type rollout struct {
	n     int
	clips []idrl.Clip // that may be shown, the opening first
	raw   []byte      // the raw steps, which all clips name; nil where they are not kept
}

// solved is a policy, its feature expectation, and its rollouts that are shown,
// at least one.
type solved struct {
	id       idrl.PolicyID
	policy   idrl.Policy
	mu       []float64   // of the environment's features
	mus      [][]float64 // of single episodes, whose mean is mu, if they are handed over
	under    []float64   // of the features of the job, once represent has been called; else mu
	rollouts []rollout
}

// as returns s under another name. Episodes of a Recorded policy keep their names (simulation.actor).
func (s solved) as(id idrl.PolicyID) solved {
	if _, ok := s.policy.(Recorded); ok {
		s.id = id
		return s
	}
	s.id, s.rollouts = id, slices.Clone(s.rollouts)
	for i := range s.rollouts {
		ro := &s.rollouts[i]
		ro.clips = slices.Clone(ro.clips)
		for k := range ro.clips {
			ro.clips[k].From = idrl.EpisodeName(id, ro.n)
		}
	}
	return s
}

// opening returns the clip that shows s.
func (s solved) opening() idrl.Clip { return s.rollouts[0].clips[0] }

// shown returns the rollouts of s as a checkpoint of its training keeps them.
func (s solved) shown() []idrl.Shown {
	out := make([]idrl.Shown, len(s.rollouts))
	for i, ro := range s.rollouts {
		out[i] = idrl.Shown{Episode: ro.n, Clips: slices.Clone(ro.clips), Steps: ro.raw}
		for k := range out[i].Clips {
			out[i].Clips[k].Snapshots = nil
		}
	}
	return out
}

// remembered is the inverse of shown, but for snapshots.
func remembered(id idrl.PolicyID, p idrl.Policy, s idrl.Solved) solved {
	out := solved{id: id, policy: p, mu: s.Mu, under: s.Mu}
	for _, e := range s.Shown {
		out.rollouts = append(out.rollouts, rollout{n: e.Episode, clips: e.Clips, raw: e.Steps})
	}
	return out
}

// try rolls p out, unless it is one of the known policies. It returns ErrBroken
// if the simulation breaks down in every episode, and an error of kind Invalid
// if the environment cannot save its states.
func (r *simulation) try(ctx context.Context, id idrl.PolicyID, p idrl.Policy, known []solved) (solved, error) {
	for _, s := range known {
		if slices.Equal(s.policy.Params(), p.Params()) {
			return s.as(id), nil
		}
	}
	out := solved{id: id, policy: p}
	episodes := r.rollouts
	if r.mu == nil {
		episodes = max(episodes, r.muEpisodes)
	}
	var sound [][][]float64 // features of the episodes that did not break down
	for n := range episodes {
		if err := ctx.Err(); err != nil {
			return solved{}, err
		}
		t, err := r.episode(id, p, n)
		if errors.Is(err, ErrBroken) {
			continue
		}
		if err != nil {
			return solved{}, err
		}
		sound = append(sound, t.Phi)
		if len(out.rollouts) == r.rollouts {
			continue
		}
		ro, err := r.cut(t, n)
		if err != nil {
			return solved{}, err
		}
		out.rollouts = append(out.rollouts, ro)
	}
	if len(out.rollouts) == 0 {
		return solved{}, ErrBroken
	}
	if r.mu != nil {
		out.mu = r.mu(r.env, p, r.stream("mu", 0))
	} else {
		out.mu = meanFeatures(sound, r.env.Spec().Discount)
		for i := 0; r.spread && i < len(sound); i++ {
			out.mus = append(out.mus, meanFeatures(sound[i:i+1], r.env.Spec().Discount))
		}
	}
	out.under = out.mu
	return out, nil
}

// represent returns s with its feature expectation under the features of the job.
func (r *simulation) represent(s solved) (solved, error) {
	if r.job.Features == nil {
		return s, nil
	}
	all := make([]*idrl.Steps, len(s.rollouts))
	for i, ro := range s.rollouts {
		raw, err := steps.Decode(ro.clips[0].Raw, ro.raw)
		if err != nil {
			return solved{}, fmt.Errorf("features of policy %s: %w", s.id, err)
		}
		all[i] = &raw
	}
	s.under = representation.Mu(r.job.Features, all, r.env.Spec().Discount)
	return s, nil
}

// names returns the names of the raw steps that are kept of s.
func (s solved) names() []idrl.StepsID {
	var out []idrl.StepsID
	for _, ro := range s.rollouts {
		if ro.raw != nil {
			out = append(out, ro.clips[0].Raw)
		}
	}
	return out
}

// cut encodes the raw steps of the n-th episode of a policy and cuts the clips from it
// that may be shown.
func (r *simulation) cut(t *idrl.Trajectory, n int) (ro rollout, err error) {
	ro.n = n
	if r.steps != nil {
		if t.Raw, ro.raw, err = r.steps(t, uint64(n)); err != nil {
			return rollout{}, fmt.Errorf("steps of trajectory %s: %w", t.ID, err)
		}
	}
	if r.steady && !r.kind.Still() {
		ro.clips = r.steadyClips(t)
		return ro, nil
	}
	ro.clips = append([]idrl.Clip{r.opening(t)}, r.others(t, n)...)
	return ro, nil
}

// kept returns the raw steps of rollouts by name: those that clips were cut from, and
// those that stand for a policy where its features are computed again.
func kept(policies ...[]rollout) map[idrl.StepsID][]byte {
	var out map[idrl.StepsID][]byte
	for _, rollouts := range policies {
		for _, ro := range rollouts {
			if ro.raw == nil {
				continue
			}
			if out == nil {
				out = map[idrl.StepsID][]byte{}
			}
			out[ro.clips[0].Raw] = ro.raw
		}
	}
	return out
}

// meanFeatures returns the mean of the discounted features of episodes, given by the
// features of their steps.
func meanFeatures(episodes [][][]float64, discount float64) []float64 {
	mu := make([]float64, len(episodes[0][0]))
	for _, e := range episodes {
		weight := 1 / float64(len(episodes))
		for _, phi := range e {
			floats.AddScaled(mu, weight, phi)
			weight *= discount
		}
	}
	return mu
}

// stream returns the named stream that every policy of the session shares, so
// that all are judged in the same n-th episode: common random numbers.
func (r *simulation) stream(purpose string, n int) *rand.Rand {
	return rng.New(r.job.Seed, purpose, uint64(n))
}

// episode records the n-th episode of p. It returns ErrBroken if the simulation
// breaks down, or p acted before and not so often.
func (r *simulation) episode(id idrl.PolicyID, p idrl.Policy, n int) (*idrl.Trajectory, error) {
	states, ok := r.env.(idrl.Snapshotter)
	spec := r.env.Spec()
	if !ok {
		return nil, idrl.Errorf(idrl.Invalid, "environment %q cannot save its states, so its clips cannot be drawn", spec.ID)
	}
	if past, ok := p.(Recorded); ok {
		id = r.actor(id, p)
		if p, ok = past.Episode(r.env, n); !ok {
			return nil, ErrBroken
		}
	}
	lying := idrl.NewLying(r.env)
	stream := r.stream("rollout", n)
	t := &idrl.Trajectory{ID: idrl.EpisodeName(id, n), Env: spec.ID, Policy: id}
	for action, step := range idrl.EpisodeOf(r.env, p, stream) {
		if step.Broken {
			return nil, ErrBroken
		}
		if step.Kind != idrl.First {
			t.Actions, t.Phi = append(t.Actions, slices.Clone(action)), append(t.Phi, slices.Clone(step.Phi))
		}
		t.Snapshots, t.Obs = append(t.Snapshots, states.Snapshot(nil)), append(t.Obs, slices.Clone(step.Obs))
		lying.Note()
		t.End = step.Kind
		if r.most > 0 && t.Len() == r.most { // whose features are not added to those of whole episodes
			t.End = idrl.Truncated
			break
		}
	}
	if !r.afterFalls {
		t.Fallen = lying.States(spec.StepSeconds)
	}
	if err := t.Validate(); err != nil {
		return nil, err
	}
	return t, nil
}

// actor returns the name under which the episodes of a Recorded policy are kept: that of its place among the given policies, which is
// the same in every generation; else id.
func (r *simulation) actor(id idrl.PolicyID, p idrl.Policy) idrl.PolicyID {
	for k, g := range r.given {
		if slices.Equal(g.Params(), p.Params()) {
			return poolID(k)
		}
	}
	return id
}

// uncertain reports whether two episodes in env with the same actions may
// differ. Environments of unknown kind are assumed to be stochastic.
func uncertain(env idrl.Environment) bool {
	switch env := env.(type) {
	case idrl.Differentiable: // without randomness
		return false
	case idrl.Tabular:
		return !fixed(env)
	}
	return true
}

// fixed reports whether every episode of env begins in one state and every
// action leads to one.
func fixed(env idrl.Tabular) bool {
	n := env.NumStates()
	p := env.Start(nil)
	if !slices.Contains(p, 1) {
		return false
	}
	for s := range n {
		for a := range env.Spec().Actions.Num {
			if !slices.Contains(env.Transition(p, s, a), 1) {
				return false
			}
		}
	}
	return true
}
