package experiment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"tiebreak/envs/driver"
	"tiebreak/envs/gridworld"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/session"
	"tiebreak/internal/session/journaltest"
	"tiebreak/internal/session/memory"
	"tiebreak/internal/study/settings"

	"github.com/google/go-cmp/cmp"
)

// A rehearsed is what a session with one simulated annotator is made of, in the hands
// of this test.
type rehearsed struct {
	spec   idrl.SessionSpec
	model  belief.Model
	newEnv func() idrl.Environment
	theta  []float64
}

func rehearse(t *testing.T, env string, kind idrl.QueryKind, every, after int64) rehearsed {
	t.Helper()
	spec := settings.Complete(idrl.SessionSpec{
		ID: "s1", Title: "test", Env: env, Kind: kind, Seed: 7, TrainEvery: every, AdoptAfter: after, NoiseStd: 1, RatingVar: 1,
	})

	r := rehearsed{spec: spec, newEnv: func() idrl.Environment { return driver.New() }}
	if env == "gridworld" {
		r.newEnv = func() idrl.Environment { return gridworld.New(gridworld.Config{}, rng.New(spec.Seed, "layout", 0)) }
	}
	e := r.newEnv()
	r.spec.Features = e.Spec().FeatureNames
	r.theta = sim.NewTask(e, rng.New(3, "task", 0)).Theta
	var err error
	if r.model, err = belief.ForSpec(spec, e); err != nil {
		t.Fatal(err)
	}
	return r
}

// answers returns the annotator, who is the same in a session and in an experiment.
func (r rehearsed) answers(t *testing.T) func(q idrl.QueryVector, n uint64) idrl.Answer {
	t.Helper()
	expert, err := sim.NewExpert("bradley-terry", sim.Task{Theta: r.theta}, sim.Options{Range: 10})
	if err != nil {
		t.Fatal(err)
	}
	return func(q idrl.QueryVector, n uint64) idrl.Answer {
		return expert.Answer(q, rng.New(r.spec.Seed, "answer "+string(q.ID), n))
	}
}

// stage returns the same for an experiment.
func (r rehearsed) stage(t *testing.T) *stage {
	t.Helper()
	sol, err := solver.For(r.newEnv())
	if err != nil {
		t.Fatal(err)
	}
	return &stage{
		seed: r.spec.Seed, schedule: learning.OfSession(r.spec), kind: r.spec.Kind, theta: r.theta, prior: r.model.Start,
		newEnv: r.newEnv, solver: sol, mu: solver.Mu,
		mse: func([]float64) float64 { return 0 }, cosine: func([]float64) float64 { return 0 },
		answers: func([]idrl.QueryVector) (idrl.RewardModel, func(idrl.QueryVector, uint64) idrl.Answer, error) {
			return r.model, r.answers(t), nil
		},
	}
}

type nobody struct{}

func (nobody) Publish(idrl.SessionID, idrl.Event) {}

// An outcome is what a session asked, and what it knew in the end.
type outcome struct {
	Queries []idrl.QueryID
	Mean    []float64
	Best    idrl.PolicyID
}

// asSession runs a session of n answers.
func (r rehearsed) asSession(t *testing.T, m acquisition.Method, n int) (out outcome) {
	t.Helper()
	record := idrl.Record{Spec: r.spec}
	cfg := session.Config{
		Record: record, Model: r.model, Acquisition: m, Trainer: r.stage(t).trainer(m),
		Journal: &memory.Journal{Record: &record, Guard: new(sync.Mutex)}, Publisher: nobody{}, Log: slog.New(slog.DiscardHandler),
	}
	s, err := session.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { _ = s.Run(ctx); close(done) }()
	defer func() { cancel(); <-done }()
	answer, asked := r.answers(t), map[idrl.QueryID]uint64{}
	for i := 0; i < n; {
		o, err := s.Claim(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Open) == 0 {
			continue // the first generation is being made
		}
		as := o.Open[0]
		a := answer(journaltest.Vector(t, record, as.Query), asked[as.Query.ID])
		asked[as.Query.ID]++
		a.ID, a.Assignment, a.Left, a.Input = idrl.AnswerID(fmt.Sprint("a", i)), as.ID, as.Left, "api"
		if _, err := s.Answer(t.Context(), "ann", a); err != nil {
			t.Fatal(err)
		}
		out.Queries = append(out.Queries, as.Query.ID)
		i++
	}
	st, err := s.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range st.Weights {
		out.Mean = append(out.Mean, w.Mean)
	}
	out.Best = st.Best
	return out
}

// asExperiment runs the same under the schedule of the session.
func (r rehearsed) asExperiment(t *testing.T, m acquisition.Method, n int) outcome {
	t.Helper()
	s := r.stage(t)
	l := &liveRun{stage: s, method: m, trainer: s.trainer(m), asked: map[idrl.QueryID]uint64{}}
	if err := errors.Join(l.begin(t.Context()), l.topUp()); err != nil {
		t.Fatal(err)
	}
	for range n {
		if err := l.step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	out := outcome{Mean: l.core.Posterior().Mean(nil), Best: l.core.Recommend().ID}
	for _, q := range l.given[:n] {
		out.Queries = append(out.Queries, q.ID)
	}
	return out
}

// With one seed, environment, method, schedule and annotator, a session and an
// experiment ask the same questions, learn the same to the last bit, and recommend the
// same policy.
func TestSessionsAndExperimentsAskTheSame(t *testing.T) {
	const answers = 16
	for _, test := range []struct {
		env          string
		kind         idrl.QueryKind
		method       string
		every, after int64
		ahead        int
	}{
		{"gridworld", idrl.CompareClips, "lvar", 1, 1, 3},
		{"gridworld", idrl.RateClip, "idrl", 1, 1, 1},
		{"gridworld", idrl.CompareClips, "leader", 3, 3, 3},
		{"gridworld", idrl.CompareStates, "tt", 3, 1, 2},
		{"driver", idrl.CompareClips, "lvar", 1, 1, 3},
		{"driver", idrl.CompareClips, "idrl", 4, 2, 3},
		{"driver", idrl.RateClip, "uniform", 3, 3, 5},
	} {
		t.Run(fmt.Sprintf("%s/%s/%s/%d/%d", test.env, test.kind, test.method, test.every, test.after), func(t *testing.T) {
			r := rehearse(t, test.env, test.kind, test.every, test.after)
			r.spec.Ahead = test.ahead
			m := Experiment{}.Method(test.method)
			want, got := r.asSession(t, m, answers), r.asExperiment(t, m, answers)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-session +experiment):\n%s", diff)
			}
			if distinct := slices.Compact(slices.Sorted(slices.Values(want.Queries))); len(distinct) < answers/2 {
				t.Errorf("%d different questions of %d: the test says little", len(distinct), answers)
			}
		})
	}
}
