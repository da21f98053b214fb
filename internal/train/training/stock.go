package training

import (
	"context"
	"log/slog"
	"slices"

	"tiebreak/envs"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/data/library"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/measure"
	"tiebreak/internal/plan/behaviour"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/train/trainer"
)

// Sessions whose policies are found among gaits begin with the library of their robot
// (docs/adr/0027). Where there is none, they begin with random policies, of which those are
// taken that look most different.
const (
	randomGaits  = 24
	randomLinear = 8
)

// NewStock returns what a session shows first: behaviours of the library of its
// environment, or random ones. All sessions with the same environment, kind of questions and
// form of clips may share it. A library that does not fit is left out, with a warning.
func NewStock(list envs.List, spec idrl.SessionSpec, log *slog.Logger) (*trainer.Stock, error) {
	entry, err := list.Find(spec.Env)
	if err != nil {
		return nil, err
	}
	newEnv := func() idrl.Environment { // those with continuous actions have one layout
		return asCreated(entry.New(rng.New(trainer.StockSeed, "layout", 0)), spec)
	}
	env := newEnv()
	s := &trainer.Stock{
		NewEnv: newEnv,
		Remake: behaviour.Remake, Kind: spec.Kind.Made(), Encode: clip.Encode, Pairs: worth,
		Steps: func(t *idrl.Trajectory, episode uint64) (idrl.StepsID, []byte, error) {
			return steps.Encode(steps.Of(t, idrl.Steps{Env: spec.Env, Version: env.Spec().Version, Seed: trainer.StockSeed, Episode: episode}))
		},
	}
	s.Behaviours = fromLibrary(entry, env, log)
	if s.Behaviours == nil {
		s.Choose = mostApart
		s.Behaviours, err = random(env)
	}
	return s, err
}

// fromLibrary returns the behaviours of the library of an environment, nil if it has none
// that fits.
func fromLibrary(entry envs.Entry, env idrl.Environment, log *slog.Logger) []library.Behaviour {
	if entry.Library == nil {
		return nil
	}
	list, err := entry.Library()
	for _, b := range list {
		if err == nil {
			_, err = behaviour.Remake(env, b.Params)
		}
		if err == nil && slices.ContainsFunc(b.Mus, func(mu []float64) bool { return len(mu) != env.Spec().FeatureDim() }) {
			err = idrl.Errorf(idrl.Invalid, "behaviour %q of the library has features of another environment", b.Name)
		}
	}
	if err != nil {
		log.Warn("a session begins with random behaviours: the library of its robot cannot be used", "env", entry.ID, "err", err)
		return nil
	}
	return list
}

// random returns gaits and linear policies that are drawn without regard to the session.
func random(env idrl.Environment) (out []library.Behaviour, err error) {
	stream := rng.New(trainer.StockSeed, "random behaviours", 0)
	for range randomGaits {
		params, err := solver.RandomGait(env.Spec(), stream)
		if err != nil {
			return nil, err
		}
		out = append(out, library.Behaviour{Name: "random gait", Params: behaviour.Gait.Params(params)})
	}
	weights := make([]float64, env.Spec().FeatureDim())
	for range randomLinear {
		p, err := solver.Draft{}.Solve(context.Background(), idrl.SolveTask{Env: env, Theta: weights}, stream)
		if err != nil {
			return nil, err
		}
		out = append(out, library.Behaviour{Name: "random linear policy", Params: behaviour.Linear.Params(p.Params())})
	}
	return out, nil
}

// worth returns the pairs of clips that a person can answer, the farthest apart first; nil
// if there are none, so that something is asked, or if clips cannot be measured, as those of
// pictures.
func worth(clips []idrl.Clip) ([][2]int, error) {
	v, err := measure.Of(clips)
	if idrl.KindOf(err) == idrl.Invalid {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	pairs, err := measure.Worth(v)
	if len(pairs) == 0 {
		return nil, err
	}
	return pairs, err
}

// mostApart chooses n behaviours that move and look different; if there are fewer than two
// of them, or their clips cannot be measured, the first n.
func mostApart(clips [][]idrl.Clip, n int) ([]int, error) {
	seen := make([][]*measure.View, len(clips))
	for i, list := range clips {
		v, err := measure.Of(list)
		if err != nil && idrl.KindOf(err) != idrl.Invalid {
			return nil, err
		}
		if err == nil && !slices.ContainsFunc(v, (*measure.View).Still) && !slices.ContainsFunc(v, (*measure.View).Fallen) {
			seen[i] = v
		}
	}
	chosen, err := measure.Spread(seen, nil, n)
	for i := 0; len(chosen) < 2 && i < min(n, len(clips)); i++ {
		if !slices.Contains(chosen, i) {
			chosen = append(chosen, i)
		}
	}
	return chosen, err
}

// A stockroom keeps the stocks of the environments that a worker trained in last, which
// sessions share.
type stockroom map[stockKey]*trainer.Stock

type stockKey struct {
	env  string
	kind idrl.QueryKind
	clip idrl.ClipForm
}

const maxStocks = 16

// get returns the stock of a session.
func (r stockroom) get(list envs.List, spec idrl.SessionSpec, log *slog.Logger) (*trainer.Stock, error) {
	k := stockKey{env: spec.Env, kind: spec.Kind.Made(), clip: spec.Clip}
	s := r[k]
	if s != nil {
		return s, nil
	}
	s, err := NewStock(list, spec, log)
	if err != nil {
		return nil, err
	}
	if len(r) == maxStocks {
		clear(r)
	}
	r[k] = s
	return s, nil
}
