package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/driven"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/learning"
)

// Names of schedules.
const (
	PaperSchedule = "paper" // candidates are trained after every answer, and queries are a fixed list
	LiveSchedule  = "live"  // of a session whose generations take less than a second
	SlowSchedule  = "slow"  // of a session whose generations take as long as three answers
	CrowdSchedule = "crowd" // of a session whose generations take a second, with several annotators at once, who are compared
)

// Schedules returns the names of the schedules, the default first.
func Schedules() []string { return []string{PaperSchedule, LiveSchedule, SlowSchedule, CrowdSchedule} }

// schedule returns the schedule of a session that e asks for, if it asks for one.
func (e Experiment) schedule() (learning.Schedule, bool) {
	switch e.Schedule {
	case LiveSchedule, CrowdSchedule:
		return learning.Live(), true
	case SlowSchedule:
		return learning.Dear(), true
	}
	return learning.Schedule{}, false
}

// A stage is what a session needs of an instance: its environment, the solver of its
// trainer, how answers are modelled, and who answers.
type stage struct {
	seed     uint64
	schedule learning.Schedule
	kind     idrl.QueryKind
	theta    []float64 // true weights
	best     float64   // true return of the best policy
	right    float64   // share of random pairs that people are right about
	newEnv   func() idrl.Environment
	solver   idrl.Solver
	mu       func(idrl.Environment, idrl.Policy, *rand.Rand) []float64
	crowd    *crowd // who annotates; nil: one person, whose answers are the clock
	seen     bool   // clips are drawn, and questions are those that people can answer
	made     bool   // clips are made for questions that are chosen
	every    int    // answers from one measurement to the next
	mse      func(mean []float64) float64
	cosine   func(mean []float64) float64

	// answers returns the reward model of a session and its annotator, who knows the
	// queries of the first generation.
	answers func(first []idrl.QueryVector) (belief.Model, func(q idrl.QueryVector, n uint64) idrl.Answer, error)
	prior   *belief.Gaussian
}

// people returns the model of a session and its annotator, who is as noisy as people.
func (s *stage) people(first []idrl.QueryVector) (belief.Model, func(q idrl.QueryVector, n uint64) idrl.Answer, error) {
	p := personOf(s.theta, first, s.right)
	return p.model(s.prior), func(q idrl.QueryVector, n uint64) idrl.Answer {
		return p.reply(q, rng.New(s.seed, "answer "+string(q.ID), n))
	}, nil
}

// A liveRun is one method in a session on a stage.
type liveRun struct {
	*stage
	session *driven.Session
	choices *choices
	answer  func(q idrl.QueryVector, n uint64) idrl.Answer

	n     int // answers so far, those that say nothing included
	asked map[idrl.QueryID]uint64
	given []record.Assignment // that were answered
	run   Run
}

// start begins a session by method m. Whoever calls it ends it.
func (s *stage) start(ctx context.Context, m acquisition.Method) (*liveRun, error) {
	of := s.trainer(m)
	train := &stageTrainer{of: of}
	var err error
	if train.first, err = train.of.Train(ctx, idrl.TrainJob{First: true, Posterior: s.prior, Seed: s.seed}); err != nil {
		return nil, err
	}
	queries, err := vectors(&train.first)
	if err != nil {
		return nil, err
	}
	model, answer, err := s.answers(queries)
	if err != nil {
		return nil, err
	}
	of.Noise = noiseOf(model.Comparison)
	l := &liveRun{stage: s, choices: &choices{Model: model}, answer: answer, asked: map[idrl.QueryID]uint64{}}
	spec := s.spec(m, model)
	if s.crowd != nil {
		spec, l.choices.apart, train.takes = s.crowd.spec(spec), s.crowd.apart, s.crowd.training()
	}
	l.session, err = driven.Start(ctx, driven.Config{Spec: spec, Model: l.choices, Method: l.choices.by(m), Trainer: train})
	return l, err
}

// noiseOf returns the standard deviation of the noise of a model of comparisons; 0 if it is unknown.
func noiseOf(comparison any) float64 {
	switch c := comparison.(type) {
	case belief.Probit:
		return c.NoiseStd
	case belief.Graded:
		return noiseOf(c.Of)
	}
	return 0
}

// end ends the session and returns its run.
func (l *liveRun) end() Run {
	l.session.Close()
	l.run.Solves, l.run.SelectNS = l.session.Policies(), l.choices.took
	return l.run
}

// learn runs method m for a number of answers.
func (s *stage) learn(ctx context.Context, m acquisition.Method, answers int) (Run, error) {
	l, err := s.start(ctx, m)
	if err != nil {
		return Run{}, err
	}
	defer l.session.Close()
	step := l.step
	if s.crowd != nil {
		r, err := l.together(ctx, *s.crowd)
		if err != nil {
			return Run{}, err
		}
		step = r.step
	}
	if err := l.measure(ctx, answers); err != nil {
		return Run{}, err
	}
	for l.n < answers {
		if err := step(ctx); err != nil {
			return Run{}, fmt.Errorf("answer %d: %w", l.n+1, err)
		}
		if err := l.measure(ctx, answers); err != nil {
			return Run{}, err
		}
	}
	return l.end(), nil
}

// somebody is the annotator of a session that has one.
const somebody idrl.AnnotatorID = "annotator"

// step answers the question that was given out first. Where there is nothing to ask, because all
// clips look alike, the session stands still: then an answer is counted that says nothing.
func (l *liveRun) step(ctx context.Context) error {
	open, err := l.session.Claim(ctx, somebody)
	if err != nil {
		return err
	}
	if len(open) == 0 {
		l.n++
		return nil
	}
	return l.take(ctx, open[0])
}

// take answers a question.
func (l *liveRun) take(ctx context.Context, as record.Assignment) error {
	q, err := l.session.Question(as.Query)
	if err != nil {
		return err
	}
	a := l.answer(*q, l.asked[q.ID])
	a.Rating /= ratingUnit
	l.asked[q.ID]++
	l.n++
	l.given = append(l.given, as)
	return l.session.Answer(ctx, as, a)
}

// measure notes how good the recommended policy and the posterior are, if that is
// wanted after so many answers.
func (l *liveRun) measure(ctx context.Context, answers int) error {
	if l.n%max(1, l.every) != 0 && l.n != answers {
		return nil
	}
	best, err := l.session.Recommended(ctx)
	if err != nil {
		return err
	}
	p, err := l.session.Posterior(ctx)
	if err != nil {
		return err
	}
	mean := p.Mean(nil)
	l.run.Regret = append(l.run.Regret, l.best-floats.Dot(l.theta, best.Mu))
	l.run.MSE = append(l.run.MSE, l.mse(mean))
	l.run.Cosine = append(l.run.Cosine, l.cosine(mean))
	return nil
}
