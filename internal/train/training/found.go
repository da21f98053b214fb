package training

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/behaviour"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
)

const (
	// A policy is valued by whole episodes from valuedStarts start states, or more if they
	// are short, under any weights: mean return less half of the spread (solver.Known.Score).
	valuedStarts    = 8
	maxValuedStarts = 32
	valuedSteps     = 8000 // of all, at least

	// triedSteps are those of the one episode by which a policy of the library is taken for
	// worth being valued, or not. A job values at most promoted of them.
	triedSteps = 300
	promoted   = 3

	// maxFound is how many valued policies are kept.
	maxFound = 64
)

// A found policy is one that was valued.
type found struct {
	Known  solver.Known // Params are those of behaviour.New
	Stands bool         // it has not fallen at the end of any episode
}

// A tried policy was played in one short episode.
type tried struct {
	Params []float64
	Mu     []float64 // discounted features of that episode, length d; nil if it broke down
	Valued bool
}

// A valuer plays policies.
type valuer struct {
	env  idrl.Environment
	seed uint64 // of the session; the start states are the same for all policies
	took int    // steps
}

// value returns a policy with its features. ok is false if no policy of the environment has
// these parameters, the simulation breaks down, or the return under theta of the first
// episode is below bar: then the others are not played.
func (v *valuer) value(ctx context.Context, params, theta []float64, bar float64) (f found, ok bool, err error) {
	f = found{Known: solver.Known{Params: params}, Stands: true}
	horizon := v.env.Spec().Horizon
	for n := range max(valuedStarts, min(maxValuedStarts, valuedSteps/horizon)) {
		mu, fallen, ok := v.play(params, n, horizon)
		if err := ctx.Err(); err != nil || !ok || n == 0 && floats.Dot(mu, theta) < bar {
			return found{}, false, err
		}
		f.Known.Mus, f.Stands = append(f.Known.Mus, mu), f.Stands && !fallen
	}
	return f, true, nil
}

// play returns the discounted features of an episode from start state n, of at most that
// many steps, and whether it ends fallen.
func (v *valuer) play(params []float64, n, steps int) (mu []float64, fallen, ok bool) {
	p, err := behaviour.New(v.env.Spec(), params)
	if err != nil {
		return nil, false, false
	}
	spec := v.env.Spec()
	mu = make([]float64, spec.FeatureDim())
	discount, took := 1.0, 0
	for _, step := range idrl.EpisodeOf(v.env, p, rng.New(v.seed, "valued start", uint64(n))) {
		if step.Broken {
			return nil, false, false
		}
		if step.Kind == idrl.First {
			continue
		}
		floats.AddScaled(mu, discount, step.Phi)
		discount *= spec.Discount
		if took++; took == steps {
			break
		}
	}
	v.took += took
	f, falls := v.env.(idrl.Faller)
	sound := !slices.ContainsFunc(mu, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
	return mu, falls && f.Fallen(), sound
}

// find values a policy and keeps it, unless it is known, the simulation breaks down, or it is
// plainly worse under theta than the best.
func (s *gaitTraining) find(ctx context.Context, params, theta []float64) error {
	if slices.ContainsFunc(s.state.Found, func(f found) bool { return slices.Equal(f.Known.Params, params) }) {
		return nil
	}
	bar := math.Inf(-1)
	if best, ok := s.best(theta, nil); ok && len(s.state.Found) > 1 {
		bar = best.Known.Score(theta)
	}
	f, ok, err := s.valuer.value(ctx, params, theta, bar)
	if ok {
		s.state.Found = append(s.state.Found, f)
	}
	return err
}

// forget keeps the policies with the highest scores, and those that are optimal for draws.
func (s *gaitTraining) forget(theta []float64, keep [][]float64) {
	for len(s.state.Found) > maxFound {
		worst, least := -1, math.Inf(1)
		for i, f := range s.state.Found {
			same := func(params []float64) bool { return slices.Equal(params, f.Known.Params) }
			if v := f.Known.Score(theta); v < least && !slices.ContainsFunc(keep, same) {
				worst, least = i, v
			}
		}
		s.state.Found = slices.Delete(s.state.Found, worst, worst+1)
	}
}

// best returns the policy with the highest score among those that is accepts, which may be
// nil; the first of equals. ok is false if there is none.
func (s *gaitTraining) best(theta []float64, is func(found) bool) (f found, ok bool) {
	most := math.Inf(-1)
	for _, o := range s.state.Found {
		if v := o.Known.Score(theta); v > most && (is == nil || is(o)) {
			f, most, ok = o, v, true
		}
	}
	return f, ok
}

// isGait reports whether f is a gait.
func isGait(f found) bool {
	_, ok := behaviour.Gait.Own(f.Known.Params)
	return ok
}

// bestGait returns the parameters, in their class, of the gait with the highest score; nil
// if none is known.
func (s *gaitTraining) bestGait(theta []float64) [][]float64 {
	f, ok := s.best(theta, isGait)
	if !ok {
		return nil
	}
	own, _ := behaviour.Gait.Own(f.Known.Params)
	return [][]float64{own}
}

// try plays what is not in the state yet, briefly: the library, and the policies of the
// generation in use.
func (s *gaitTraining) try(ctx context.Context, policies [][]float64) error {
	for i, params := range policies {
		if slices.ContainsFunc(s.state.Tried, func(t tried) bool { return slices.Equal(t.Params, params) }) ||
			slices.ContainsFunc(s.state.Found, func(f found) bool { return slices.Equal(f.Known.Params, params) }) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		s.tell(fmt.Sprintf("looking through what is known: policy %d of %d", i+1, len(policies)))
		t := tried{Params: params}
		if mu, _, ok := s.valuer.play(params, 0, triedSteps); ok {
			t.Mu = mu
		}
		s.state.Tried = append(s.state.Tried, t)
	}
	return nil
}

// promote values those of the tried policies that promise most under theta.
func (s *gaitTraining) promote(ctx context.Context, theta []float64) error {
	for range promoted {
		next, most := -1, math.Inf(-1)
		for i, t := range s.state.Tried {
			if t.Mu == nil || t.Valued {
				continue
			}
			if v := floats.Dot(t.Mu, theta); v > most {
				next, most = i, v
			}
		}
		if next < 0 {
			return nil
		}
		s.state.Tried[next].Valued = true
		if err := s.find(ctx, s.state.Tried[next].Params, theta); err != nil {
			return err
		}
	}
	return nil
}
