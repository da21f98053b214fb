package solver

import (
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/cmaes"
)

// An evolutionState is an Evolution between generations.
type evolutionState struct {
	Settings string
	Seed     uint64
	Spent    int
	Done     int
	Known    []Known
	Rivals   []rivalState
}

type rivalState struct {
	Base     []float64
	Strategy []byte
	Best     []Known // none or one
}

// Encode returns the state of the search, from which Continue continues.
func (v *Evolution) Encode() []byte {
	k := v.kept(v.settings(v.ground.spec))
	s := evolutionState{Settings: k.settings, Seed: k.seed, Spent: k.spent, Done: k.done, Known: k.known}
	for _, r := range v.rivals {
		state := rivalState{Base: r.base, Strategy: r.strategy.Encode()}
		if r.best != nil {
			state.Best = []Known{*r.best}
		}
		s.Rivals = append(s.Rivals, state)
	}
	return encode(&s)
}

// Continue returns the search from a state of Encode. It returns an error of kind Invalid if the
// state is damaged, or of another environment, version or setting; the settings that limit a solve
// may differ.
func (e Evolve) Continue(env idrl.Environment, state []byte) (*Evolution, error) {
	spec := env.Spec()
	e = e.withDefaults(spec)
	if err := e.check(spec); err != nil {
		return nil, err
	}
	s, err := decode[evolutionState](state)
	if err != nil {
		return nil, err
	}
	if len(s.Rivals) == 0 {
		return nil, idrl.Errorf(idrl.Invalid, "the state of a search among gaits has no gait")
	}
	c, err := e.place(env).resume(kept{s.Settings, s.Seed, s.Spent, s.Done, s.Known}, e.settings(spec))
	if err != nil {
		return nil, err
	}
	v := &Evolution{Evolve: e, course: c}
	for _, state := range s.Rivals {
		if err := v.add(state); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// add adds the rival of a state. It returns an error of kind Invalid if that does not fit
// the environment.
func (v *Evolution) add(s rivalState) error {
	strategy, err := cmaes.Decode(s.Strategy)
	if err != nil {
		return idrl.Errorf(idrl.Invalid, "the state of a search among gaits: %v", err)
	}
	if n := len(strategy.Mean()); n != v.size() {
		return idrl.Errorf(idrl.Invalid, "the state of a search among gaits has %d numbers instead of %d", n, v.size())
	}
	if _, err := NewGait(v.ground.spec, s.Base); err != nil {
		return err
	}
	r := rival{strategy: strategy, base: s.Base}
	if len(s.Best) > 0 {
		r.best = &s.Best[0]
	}
	v.rivals = append(v.rivals, r)
	return checkKnown(v.ground.spec, v.Judging, s.Best)
}
