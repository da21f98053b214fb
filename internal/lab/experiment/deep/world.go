package deep

import (
	"context"
	"fmt"
	"math/rand/v2"

	"tiebreak/envs"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/learn/neural"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A World is an environment with a true reward. Only the expert and the measurements know
// the reward.
type World struct {
	newEnv func() idrl.Environment
	spec   idrl.EnvSpec
	theta  []float64 // true weights of the environment's features
}

// NewWorld returns the world of an environment that has a true reward. The error is of
// kind Invalid, or Unavailable where a simulator is missing.
func NewWorld(task string) (*World, error) {
	entry, err := envs.Catalogue().Find(task)
	if err != nil {
		return nil, err
	}
	newEnv := func() idrl.Environment { return entry.New(rng.New(1, "layout", 0)) }
	return newWorld(newEnv, sim.NewTask(newEnv(), rng.New(1, "true reward", 0)).Theta), nil
}

// newWorld returns the world of the environments of newEnv, which are equal, with true
// weights theta.
func newWorld(newEnv func() idrl.Environment, theta []float64) *World {
	return &World{newEnv: newEnv, spec: newEnv().Spec(), theta: theta}
}

// An episode holds the steps of a policy and their true return.
type episode struct {
	steps idrl.Steps
	value float64 // true return
}

// play plays an episode that did not break down. phi are kept only if asked for.
func (w *World) play(ctx context.Context, env idrl.Environment, p idrl.Policy, stream *rand.Rand) (episode, error) {
	const breakdowns = 20
	for range breakdowns {
		if err := ctx.Err(); err != nil {
			return episode{}, err
		}
		if e, ok := w.try(env, p, stream); ok {
			return e, nil
		}
	}
	return episode{}, idrl.Errorf(idrl.Internal, "the simulation of %s broke down in each of %d episodes", w.spec.ID, breakdowns)
}

func (w *World) try(env idrl.Environment, p idrl.Policy, stream *rand.Rand) (e episode, ok bool) {
	for a, step := range idrl.EpisodeOf(env, p, stream) {
		if step.Broken {
			return e, false
		}
		e.steps.Obs = append(e.steps.Obs, single(step.Obs))
		if a != nil {
			e.steps.Actions = append(e.steps.Actions, single(a))
			e.steps.Phi = append(e.steps.Phi, append([]float64(nil), step.Phi...))
			e.value += floats.Dot(w.theta, step.Phi)
		}
		e.steps.End = step.Kind
	}
	return e, e.steps.Len() > 0
}

func single[T ~[]float64](x T) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

// A clip is a segment that a question may be about.
type clip struct {
	id    idrl.ClipID
	steps idrl.Steps
	value float64 // its true return, for the expert
}

// cut returns the segments of n steps of an episode, one after the other.
func (w *World) cut(e episode, n int, name string) (out []clip) {
	for start := 0; start+n <= e.steps.Len(); start += n {
		c := clip{id: idrl.ClipID(fmt.Sprintf("%s.%d", name, start)), steps: e.steps.Cut(start, n)}
		for _, phi := range c.steps.Phi {
			c.value += floats.Dot(w.theta, phi)
		}
		out = append(out, c)
	}
	return out
}

// clips returns n clips of rollouts of policies, an equal share of each; what does not
// divide is of the first.
func (w *World) clips(ctx context.Context, env idrl.Environment, policies []idrl.Policy, n int, name string, stream *rand.Rand) ([]clip, error) {
	length := min(clipSteps, w.spec.Horizon)
	var out []clip
	for k, p := range policies {
		share := n / len(policies)
		if k == 0 {
			share += n % len(policies)
		}
		for i, got := 0, 0; got < share; i++ {
			e, err := w.play(ctx, env, p, stream)
			if err != nil {
				return nil, err
			}
			cuts := w.cut(e, length, fmt.Sprintf("%s.%d.%d", name, k, i))
			cuts = cuts[:min(len(cuts), share-got)]
			got += len(cuts)
			out = append(out, cuts...)
			if len(cuts) == 0 && i > 100 {
				return nil, idrl.Errorf(idrl.Internal, "episodes of %s end before a clip of %d steps is over", w.spec.ID, length)
			}
		}
	}
	return out, nil
}

// answer is that of the expert, who sees every difference: the clip with the higher true
// return, or both equal.
func answer(a, b clip) idrl.Answer {
	switch {
	case a.value > b.value:
		return idrl.Answer{Choice: idrl.ChoseA}
	case a.value < b.value:
		return idrl.Answer{Choice: idrl.ChoseB}
	}
	return idrl.Answer{Choice: idrl.Equal}
}

// A pair is two clips that may be compared; X is the difference of their features.
type pair struct{ a, b int }

// vectors returns the questions about pairs of clips under a model.
func vectors(m *neural.Model, clips []clip, pairs []pair) []idrl.QueryVector {
	d := m.Dim()
	sums := mat.NewDense(len(clips), d, nil)
	for i := range clips {
		m.Features(sums.RawRowView(i), clips[i].steps)
	}
	out := make([]idrl.QueryVector, len(pairs))
	for i, p := range pairs {
		a, b := clips[p.a], clips[p.b]
		x := floats.SubTo(make([]float64, d), sums.RawRowView(p.a), sums.RawRowView(p.b))
		out[i] = idrl.QueryVector{
			Query: idrl.Query{ID: idrl.QueryID(string(a.id) + "|" + string(b.id)), Kind: idrl.CompareClips, Clips: []idrl.ClipID{a.id, b.id}},
			X:     x,
		}
	}
	return out
}

// somePairs returns up to n of the pairs of so many clips, each once, drawn uniformly; all
// in their order if n is not below their number.
func somePairs(clips, n int, stream *rand.Rand) []pair {
	all := clips * (clips - 1) / 2
	if n >= all {
		out := make([]pair, 0, all)
		for a := range clips {
			for b := a + 1; b < clips; b++ {
				out = append(out, pair{a, b})
			}
		}
		return out
	}
	out, seen := make([]pair, 0, n), make(map[pair]bool, n)
	for len(out) < n {
		a, b := stream.IntN(clips), stream.IntN(clips)
		p := pair{min(a, b), max(a, b)}
		if a == b || seen[p] {
			continue
		}
		seen[p] = true
		if a > b {
			p = pair{a, b} // sides are as they were drawn
		}
		out = append(out, p)
	}
	return out
}
