package rehearsal

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/floats"

	"tiebreak/envs"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/session"
	"tiebreak/internal/study/settings"
	"tiebreak/web/wire"
)

func newEnv(spec idrl.SessionSpec) (idrl.Environment, error) {
	e, err := envs.Catalogue().Find(spec.Env)
	if err != nil {
		return nil, err
	}
	return e.New(rng.New(spec.Seed, "layout", 0)), nil
}

// recorded is Data of one session.
type recorded struct{ spec idrl.SessionSpec }

func (r recorded) Record(context.Context, idrl.SessionID) (record.Record, error) {
	return record.Record{Spec: r.spec}, nil
}

func (r recorded) Config(rec record.Record) (session.Config, error) {
	env, err := newEnv(rec.Spec)
	if err != nil {
		return session.Config{}, err
	}
	m, err := belief.ForSpec(rec.Spec, env)
	return session.Config{Model: m}, err
}

func (r recorded) PolicyClips(context.Context, idrl.SessionID, idrl.ClipID) ([][]byte, error) {
	return nil, nil
}

// prepared returns the annotator with a seed, who has met the session of spec.
func prepared(t *testing.T, spec idrl.SessionSpec, seed uint64, e Expert, data Data) *Annotator {
	t.Helper()
	r := &Annotator{cfg: Config{Seed: seed, Expert: e, NewEnv: newEnv, Data: data}.withDefaults()}
	must.Do(t, r.greet(t.Context(), &wire.Hello{Session: spec.ID, Env: spec.Env, Kind: spec.Kind}))
	return r
}

// A matched reward is a draw from the session's prior: over many seeds the sum of d
// squared weights has the mean d·PriorVar and the variance 2d·PriorVar².
func TestMatchedRewardIsDrawnFromThePrior(t *testing.T) {
	const n, variance = 400, 9.0
	spec := settings.Complete(idrl.SessionSpec{ID: "s", Env: "chain", PriorVar: variance, Seed: 3})
	sum, d := 0.0, 0.0
	for seed := range uint64(n) {
		r := &Annotator{cfg: Config{Seed: seed, Data: recorded{spec}}}
		must.Do(t, r.match(record.Record{Spec: spec}))
		d = float64(len(r.theta))
		sum += floats.Dot(r.theta, r.theta)
	}
	if got, std := sum/n, variance*math.Sqrt(2*d/n); !(math.Abs(got-variance*d) < 5*std) {
		t.Errorf("mean squared norm %.1f, want %.1f ± %.1f", got, variance*d, std)
	}
	a, b := prepared(t, spec, 1, Expert{Matched: true}, recorded{spec}), prepared(t, spec, 1, Expert{Matched: true}, recorded{spec})
	if !slices.Equal(a.theta, b.theta) || a.truth.against != AgainstOptimum || a.Session() != "s" {
		t.Errorf("the same seed draws %v and %v; against %s in session %s", a.theta, b.theta, a.truth.against, a.Session())
	}
}

// The reward of the other experts is that of the benchmarks, with the data and without.
func TestOtherRewardsAreOfTheBenchmarks(t *testing.T) {
	spec := settings.Complete(idrl.SessionSpec{ID: "s", Env: "driver", Seed: 3})
	env := must.Get(newEnv(spec))(t)
	want := sim.NewTask(env, rng.New(7, "task", 0)).Theta
	e := Expert{Kind: "bradley-terry", Temperature: 0.1}
	if got := prepared(t, spec, 7, e, nil); !slices.Equal(got.theta, want) || got.truth != nil {
		t.Errorf("without the data: %v, want %v", got.theta, want)
	}
	if got := prepared(t, spec, 7, e, recorded{spec}); !slices.Equal(got.theta, want) || got.truth.against != AgainstSearch {
		t.Errorf("with the data: %v, want %v", got.theta, want)
	}
}

// trained is a session whose first generation is there.
type trained struct {
	recorded
	g *idrl.Generation
}

func (t trained) Record(context.Context, idrl.SessionID) (record.Record, error) {
	return record.Record{Spec: t.spec, Generation: t.g}, nil
}

// TestRight: a matched person with a noise of their own is right about as many of the first pairs as was asked for. Their ties
// are as wide relative to it, and a session that has gone on is refused.
func TestRight(t *testing.T) {
	spec := settings.Complete(idrl.SessionSpec{ID: "s", Env: "chain", Seed: 3, TieBand: 1e-9})
	g, draws := &idrl.Generation{Clips: map[idrl.ClipID]idrl.Clip{}}, rand.New(rand.NewPCG(1, 2))
	for k := range 60 {
		a, b := idrl.ClipID(fmt.Sprint("a", k)), idrl.ClipID(fmt.Sprint("b", k))
		for _, id := range []idrl.ClipID{a, b} {
			phi := make([]float64, 20)
			for i := range phi {
				phi[i] = draws.NormFloat64()
			}
			g.Clips[id] = idrl.Clip{ID: id, Phi: phi}
		}
		g.Queries = append(g.Queries, idrl.Query{ID: idrl.QueryID(a), Kind: idrl.CompareClips, Clips: []idrl.ClipID{a, b}})
	}
	const right = 0.7
	r := prepared(t, spec, 1, Expert{Matched: true, Right: right}, trained{recorded{spec}, g})
	must.Do(t, r.tune(t.Context()))
	n, of := 0, 0
	for range 300 {
		for _, q := range g.Queries {
			v := idrl.ComparisonVector(g.Clips[q.Clips[0]], g.Clips[q.Clips[1]])
			of++
			if (r.expert.Answer(v, draws).Choice == idrl.ChoseA) == (floats.Dot(r.theta, v.X) > 0) {
				n++
			}
		}
	}
	if got := float64(n) / float64(of); math.Abs(got-right) > 0.015 {
		t.Errorf("right about %v of %d pairs, want %v", got, of, right)
	}
	late := *g
	late.BasedOn = 5
	r = prepared(t, spec, 1, Expert{Matched: true, Right: right}, trained{recorded{spec}, &late})
	if err := r.tune(t.Context()); err == nil || !strings.Contains(err.Error(), "make a new session") {
		t.Errorf("a session that has gone on: %v", err)
	}
	for _, e := range []Expert{{Kind: "perfect", Temperature: 1, Right: 0.7}, {Matched: true, Right: 1.2}, {Matched: true, Right: 0.5}} {
		if err := e.Check(); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%+v: error %v", e, err)
		}
	}
}

// The second of several people looks at the clips of its own question, not at those that the first one saw last.
func TestEachOfSeveralPeopleSeesTheirOwnClips(t *testing.T) {
	spec := settings.Complete(idrl.SessionSpec{ID: "s1", Env: "gridworld", Seed: 1})
	first := prepared(t, spec, 1, Expert{Kind: "b-pref", Temperature: 0.1, SkipBelow: 1e9}, nil)
	second := &Annotator{cfg: first.cfg}
	if err := second.succeed(first); err != nil {
		t.Fatal(err)
	}
	second.shown = []idrl.Clip{{ID: "a", Phi: make([]float64, len(first.theta))}, {ID: "b", Phi: make([]float64, len(first.theta))}}
	q := idrl.ComparisonVector(second.shown[0], second.shown[1])
	if a := second.expert.Answer(q, rng.New(1, "answer", 0)); a.Choice != idrl.Skip {
		t.Errorf("the second person answers %+v, want a skip: both returns are below", a)
	}
}
