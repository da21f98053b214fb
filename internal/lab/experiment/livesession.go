package experiment

import (
	"context"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/representation"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/trainer"
	"tiebreak/internal/train/training"
)

// spec returns the settings of a session on the stage, by method m, whose answers are those of model.
func (s *stage) spec(m acquisition.Method, model belief.Model) idrl.SessionSpec {
	_, strength := model.Comparison.(belief.Graded)
	spec := idrl.SessionSpec{
		ID: "live", Title: "Experiment", Kind: s.kind, Seed: s.seed, Acquisition: m.Name, Solver: idrl.OwnSolver, Questions: idrl.AnyQuestions,
		Candidates: s.schedule.Samples, Ahead: s.schedule.Ahead, TrainEvery: s.schedule.Every, AdoptAfter: s.schedule.Latency,
		Strength: strength, Remarks: model.Remark != nil, Features: s.newEnv().Spec().FeatureNames,
	}
	if s.seen {
		spec.Questions = idrl.AnswerableQuestions
	}
	if model.OfGroups {
		spec.Kind = idrl.GroupClips
	}
	return settings.Complete(spec)
}

// trainer returns the trainer of a session.
func (s *stage) trainer(m acquisition.Method) *trainer.Thompson {
	t := &trainer.Thompson{
		NewEnv: s.newEnv, Solver: s.solver, Kind: s.kind, Samples: s.schedule.Samples, Mu: s.mu,
		Duel: m.Needs.Candidates == acquisition.Duel, Pool: s.schedule.Pool, MaxQueries: s.schedule.Queries,
	}
	if s.seen {
		t.Encode = clip.Encode
		training.AskAnswerable(t, s.newEnv(), s.kind)
		if _, tabular := t.Solver.(solver.Tabular); tabular {
			t.Solver = solver.Tabular{} // also of the environment with a reward for each state, where walks are found
		}
	}
	if chosen := (idrl.SessionSpec{Acquisition: m.Name, ClipsFrom: idrl.MadeClips}); s.made && chosen.MakesClips() {
		training.MakeClips(t, s.newEnv())
	}
	return t
}

// A stageTrainer is the trainer of a session whose annotator knows the first generation.
type stageTrainer struct {
	of    idrl.Trainer
	first idrl.Generation
	takes time.Duration // a training, by the clock; but the first
}

// Train implements driven.Trainer.
func (t *stageTrainer) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, time.Duration, error) {
	if job.First {
		return t.first, 0, nil
	}
	g, err := t.of.Train(ctx, job)
	return g, t.takes, err
}

// vectors returns the queries of a generation under the features of its environment.
func vectors(g *idrl.Generation) ([]idrl.QueryVector, error) {
	return representation.New(nil, representation.Source{Remarks: true, Clip: func(id idrl.ClipID) (idrl.Clip, error) { return g.Clips[id], nil }}).Queries(g.Queries)
}

// choices is the reward model of a session whose choices are timed. They may be made without regard to
// questions that are open.
type choices struct {
	belief.Model
	apart bool

	began time.Time
	took  []int64 // ns, of each choice
}

// ratingUnit is the rating that stands for 1 in a session, which takes no ratings beyond 1, while
// those of a simulated annotator have no bounds. A power of two changes no digit of a rating.
const ratingUnit = 1 << 20

// ConditionOnPending implements idrl.RewardModel. A choice begins with it.
func (c *choices) ConditionOnPending(p idrl.Posterior, qs ...idrl.QueryVector) idrl.Posterior {
	c.began = time.Now()
	if c.apart {
		qs = nil
	}
	return c.Model.ConditionOnPending(p, qs...)
}

// Condition implements idrl.RewardModel.
func (c *choices) Condition(p idrl.Posterior, q idrl.QueryVector, a idrl.Answer) (idrl.Posterior, error) {
	a.Rating *= ratingUnit
	return c.Model.Condition(p, q, a)
}

// Fit implements idrl.RewardModel.
func (c *choices) Fit(ctx context.Context, from idrl.Posterior, qs []idrl.QueryVector, as []idrl.Answer) (idrl.Posterior, idrl.FitReport, error) {
	given := make([]idrl.Answer, len(as))
	for i, a := range as {
		a.Rating *= ratingUnit
		given[i] = a
	}
	return c.Model.Fit(ctx, from, qs, given)
}

// by returns method m with an end of each choice that is noted.
func (c *choices) by(m acquisition.Method) acquisition.Method {
	makes := m.New
	m.New = func(paper bool) acquisition.Function { return timedFunction{makes(paper), c} }
	return m
}

// A timedFunction notes when queries have their values.
type timedFunction struct {
	acquisition.Function
	of *choices
}

// Score implements acquisition.Function.
func (f timedFunction) Score(dst []float64, in *acquisition.Input) (acquisition.Pair, error) {
	p, err := f.Function.Score(dst, in)
	f.of.took = append(f.of.took, time.Since(f.of.began).Nanoseconds())
	return p, err
}
