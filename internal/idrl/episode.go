package idrl

import (
	"iter"
	"math/rand/v2"
)

// Episode plays an episode of env: it yields the First step, without an action, and then every
// action with the step that follows it, to the last. The environment draws its randomness from rng;
// act chooses the action for an observation, and the action must stay valid until act is called
// again. If the loop ends early the episode is not played to its end.
func Episode(env Environment, act func(obs []float64) Action, rng *rand.Rand) iter.Seq2[Action, TimeStep] {
	return func(yield func(Action, TimeStep) bool) {
		var a Action
		step := env.Reset(rng)
		for yield(a, step) && !step.Kind.Last() {
			a = act(step.Obs)
			step = env.Step(a)
		}
	}
}

// EpisodeOf plays an episode of env in which p acts, which learns how far the episode
// is if it is Timed. Environment and policy draw from rng. The action is overwritten by
// the next.
func EpisodeOf(env Environment, p Policy, rng *rand.Rand) iter.Seq2[Action, TimeStep] {
	action := make(Action, env.Spec().Actions.Dim())
	timed, ok := p.(Timed)
	if !ok {
		return Episode(env, func(obs []float64) Action { return p.Act(action, obs, rng) }, rng)
	}
	return func(yield func(Action, TimeStep) bool) {
		t := -1
		act := func(obs []float64) Action {
			t++
			return timed.ActAt(action, obs, t, rng)
		}
		Episode(env, act, rng)(yield)
	}
}
