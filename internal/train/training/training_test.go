package training

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/envs/driver"
	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/trainer"
)

// TestTrainers: what is searched has settings of its own, and what is solved
// exactly those that sessions on record were made with.
func TestTrainers(t *testing.T) {
	spec := settings.Complete(idrl.SessionSpec{Kind: idrl.CompareClips})
	exact := must.Get(newTrainer(spec, func() idrl.Environment { return driver.New() }))(t)
	if exact.First != nil || exact.Pool != 30 || exact.Rollouts != 0 || exact.Segments != 0 || exact.Mu == nil || exact.Remake != nil {
		t.Errorf("the trainer of driver has changed: %+v", exact)
	}
	for _, test := range []struct{ liveSteps, wantSteps, episodes, wantEpisodes int }{
		{0, 40 * 60, 0, 3},
		{5000, 5000, 10, 3},
		{5000, 5000, 1, 1},
	} {
		searched := must.Get(newTrainer(spec, func() idrl.Environment {
			return pointmass.New(pointmass.Config{Search: idrl.Search{NoiseStd: 0.7, Episodes: test.episodes, LiveSteps: test.liveSteps}})
		}))(t)
		ars := searched.Solver.(brokenSearch).Solver.(solver.ARS)
		if ars.MaxSteps != test.wantSteps || ars.Episodes != test.wantEpisodes || ars.NoiseStd != 0.7 || searched.First != (solver.Draft{}) {
			t.Errorf("%+v: search %+v after %T", test, ars, searched.First)
		}
	}
}

func TestSearchThatBreaksDown(t *testing.T) {
	env := pointmass.New(pointmass.Config{Limit: 1e-9})
	_, err := brokenSearch{solver.ARS{Episodes: 1, Iterations: 1}}.Solve(t.Context(),
		idrl.SolveTask{Env: env, Theta: []float64{1, 0, 0}}, rng.New(1, "solve", 0))
	if !errors.Is(err, trainer.ErrBroken) || !errors.Is(err, solver.ErrBroken) {
		t.Errorf("error = %v, want one that tells the trainer", err)
	}
}

// A worker lives for months, and sessions come and go.
func TestHandlerKeepsTheTrainersUsedLast(t *testing.T) {
	h := &Handler{Envs: envs.Catalogue}
	get := func(id string) idrl.Trainer {
		tr := must.Get(h.trainer(settings.Complete(idrl.SessionSpec{ID: idrl.SessionID(id), Env: "gridworld", Seed: 1})))(t)
		return tr
	}
	first, second := get("first"), get("second")
	for k := range maxTrainers - 1 {
		get(fmt.Sprint(k))
		if get("first") != first {
			t.Fatalf("the trainer used last is gone after %d others", k+1)
		}
	}
	if len(h.trainers) != maxTrainers {
		t.Errorf("%d trainers are kept, want %d", len(h.trainers), maxTrainers)
	}
	if get("second") == second {
		t.Error("the trainer that was not used longest is kept")
	}
}

// A session that is created keeps the scales of the prior that its environment has then,
// and the pool is drawn by them; one of an earlier version has none.
func TestPriorScaleOfASession(t *testing.T) {
	spec := settings.Complete(idrl.SessionSpec{Env: "scaled", Title: "t", Seed: 1})
	scale := []float64{10, 1, 0.1}
	list := envs.List{{ID: "scaled", New: func(*rand.Rand) idrl.Environment { return scaled{pointmass.New(pointmass.Config{}), scale} }}}
	created := must.Get(Complete(list, spec))(t)
	if !slices.Equal(created.PriorScale, scale) || len(created.Features) != 3 {
		t.Errorf("a new session has the scales %v of features %q", created.PriorScale, created.Features)
	}
	earlier := must.Get(NameFeatures(list, spec))(t)
	if earlier.PriorScale != nil || len(earlier.Features) != 3 {
		t.Errorf("a session of an earlier version has the scales %v", earlier.PriorScale)
	}
	for _, s := range []idrl.SessionSpec{created, earlier} {
		m := must.Get(Model(list, s))(t)
		tr := must.Get(New(list, s))(t)
		for i := range scale {
			want := 1.0
			if s.PriorScale != nil {
				want = scale[i]
			}
			x, got := make([]float64, 3), make([]float64, 3)
			x[i] = 1
			if m.Prior().CovMul(got, x); math.Abs(got[i]-want*want) > 1e-12 {
				t.Errorf("weight %d has the prior variance %v, want %v", i, got[i], want*want)
			}
		}
		if !slices.Equal(tr.PriorScale, s.PriorScale) {
			t.Errorf("the pool is drawn with scales %v, want %v", tr.PriorScale, s.PriorScale)
		}
	}
}

// scaled is a point mass with scales of the prior.
type scaled struct {
	*pointmass.Env
	scale []float64
}

func (e scaled) Spec() idrl.EnvSpec {
	s := e.Env.Spec()
	s.PriorScale = e.scale
	return s
}
