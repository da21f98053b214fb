package idrl

import "math/rand/v2"

// UntilFall returns env with episodes that end, Terminated, with the step that leads to a fallen
// state. It is for search: balance is learnt faster if a fall ends the episode, and such episodes
// are short. The features of that step count. If env is not a Faller it is returned itself. The
// result can neither be drawn nor saved; it uses env, which must not be used otherwise meanwhile.
func UntilFall(env Environment) Environment {
	if f, ok := env.(Faller); ok {
		return &untilFall{Environment: env, Faller: f}
	}
	return env
}

type untilFall struct {
	Environment
	Faller
	over bool
}

func (e *untilFall) Reset(rng *rand.Rand) TimeStep {
	e.over = false
	return e.Environment.Reset(rng)
}

func (e *untilFall) Step(a Action) TimeStep {
	if e.over {
		panic("idrl: the episode has ended at a fall")
	}
	s := e.Environment.Step(a)
	if !s.Kind.Last() && e.Fallen() {
		s.Kind, e.over = Terminated, true
	}
	return s
}
