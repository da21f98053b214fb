package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/learn/representation"
	"tiebreak/internal/train/trainer"

	"gonum.org/v1/gonum/floats"
)

// Names of schedules.
const (
	PaperSchedule = "paper" // candidates are trained after every answer, and queries are a fixed list
	LiveSchedule  = "live"  // as in a session whose generations take less than a second
	SlowSchedule  = "slow"  // as in a session whose generations take as long as three answers
	CrowdSchedule = "crowd" // as in a session whose generations take a second, with several annotators at once, who are compared
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
	newEnv   func() idrl.Environment
	solver   idrl.Solver
	mu       func(idrl.Environment, idrl.Policy, *rand.Rand) []float64
	crowd    *crowd // who annotates; nil: one person, whose answers are the clock
	every    int    // answers from one measurement to the next
	mse      func(mean []float64) float64
	cosine   func(mean []float64) float64

	// answers returns the reward model of a session and its annotator, who knows the
	// queries of the first generation.
	answers func(first []idrl.QueryVector) (idrl.RewardModel, func(q idrl.QueryVector, n uint64) idrl.Answer, error)
	prior   *belief.Gaussian
}

// trainer returns the trainer of a session.
func (s *stage) trainer(m acquisition.Method) *trainer.Thompson {
	return &trainer.Thompson{
		NewEnv: s.newEnv, Solver: s.solver, Kind: s.kind, Samples: s.schedule.Samples, Mu: s.mu,
		Duel: m.Needs.Candidates == acquisition.Duel, Pool: s.schedule.Pool, MaxQueries: s.schedule.Queries,
	}
}

// people returns the model and the annotator of sessions in which answers are as noisy
// as people's: relative to the range of what the first queries are about.
func (s *stage) people(first []idrl.QueryVector) (idrl.RewardModel, func(q idrl.QueryVector, n uint64) idrl.Answer, error) {
	var about []float64
	for _, q := range first {
		about = append(about, floats.Dot(s.theta, q.X))
	}
	scale := 1.0 // where all clips are equally good, or look alike so that there is nothing to ask
	if len(about) > 0 {
		low, high := floats.Min(about), floats.Max(about)
		if s.kind.Comparison() {
			low, high = 0, max(high, -low) // of differences, which have a sign at will
		}
		if high > low {
			scale = high - low
		}
	}
	beta, noise := peopleBeta/scale, peopleNoiseStd*scale
	m := belief.Model{
		Start: s.prior, Rating: belief.Rating{NoiseVar: noise * noise}, Comparison: belief.BradleyTerry{Beta: beta}, OffScale: true,
	}
	expert, err := sim.NewExpert("bradley-terry", sim.Task{Theta: s.theta}, sim.Options{Range: 1, Temperature: 1 / beta, NoiseStd: noise, Unclamped: true})
	if err != nil {
		return nil, nil, err
	}
	return m, func(q idrl.QueryVector, n uint64) idrl.Answer {
		return expert.Answer(q, rng.New(s.seed, "answer "+string(q.ID), n))
	}, nil
}

// A liveRun is one method under the schedule of a session with one annotator: what the
// session does, less people, leases and the journal.
type liveRun struct {
	*stage
	method  acquisition.Method
	trainer idrl.Trainer
	history *posterior.History
	core    *learning.Learner
	gen     idrl.Generation
	queries []idrl.QueryVector // of gen
	points  []point            // trainings that are under way, oldest first

	groups bool // asks for the best and the worst of six clips

	model  idrl.RewardModel
	answer func(q idrl.QueryVector, n uint64) idrl.Answer

	n     int64              // answers so far
	given []idrl.QueryVector // in the order in which they were given out
	open  []idrl.QueryVector // the last of them, not yet answered
	asked map[idrl.QueryID]uint64
	run   Run
}

// A point is a posterior that a generation is trained from.
type point struct {
	n int64 // answers in it
	p idrl.Posterior
}

// start returns a run of method m that has not begun.
func (s *stage) start(m acquisition.Method) *liveRun {
	return &liveRun{stage: s, method: m, trainer: s.trainer(m), asked: map[idrl.QueryID]uint64{}}
}

// learn runs method m for a number of answers.
func (s *stage) learn(ctx context.Context, m acquisition.Method, answers int) (Run, error) {
	l := s.start(m)
	if err := l.begin(ctx); err != nil {
		return Run{}, err
	}
	l.measure(answers)
	if s.crowd != nil {
		return l.run, l.learnTogether(ctx, *s.crowd, answers)
	}
	if err := l.topUp(); err != nil {
		return Run{}, err
	}
	for l.n < int64(answers) {
		if err := l.step(ctx); err != nil {
			return Run{}, fmt.Errorf("answer %d: %w", l.n+1, err)
		}
		l.measure(answers)
	}
	return l.run, nil
}

// begin makes the first generation, which no answer is in.
func (l *liveRun) begin(ctx context.Context) (err error) {
	if l.gen, err = l.trainer.Train(ctx, idrl.TrainJob{First: true, Posterior: l.prior, Seed: l.seed}); err != nil {
		return err
	}
	if l.queries, err = vectors(&l.gen); err != nil {
		return err
	}
	if l.model, l.answer, err = l.answers(l.queries); err != nil {
		return err
	}
	l.history = posterior.New(posterior.Config{Model: l.model})
	l.core = learning.New(learning.Config{Model: l.model, Method: l.method, Schedule: l.schedule})
	l.core.Adopt(l.gen.Pool, l.gen.Candidates)
	l.run.Solves += len(l.gen.Pool) + len(l.gen.Candidates)
	return nil
}

// step takes in the answer to the query that was given out first. Then a generation
// comes into use, if one is due, and a query is given out in its place. Where there is
// nothing to ask, because all clips look alike, a session stands still: then an answer is
// counted that says nothing.
func (l *liveRun) step(ctx context.Context) error {
	if len(l.open) == 0 {
		l.n++
		return nil
	}
	q := l.open[0]
	l.open = l.open[1:]
	if err := l.take(ctx, q); err != nil {
		return err
	}
	if l.schedule.Trains(l.n) {
		l.points = append(l.points, point{n: l.n, p: l.history.Posterior()})
	}
	if err := l.adopt(ctx); err != nil {
		return err
	}
	return l.topUp()
}

// take takes in the answer to q, which is not open any more.
func (l *liveRun) take(ctx context.Context, q idrl.QueryVector) error {
	a := l.answer(q, l.asked[q.ID])
	l.asked[q.ID]++
	l.n++
	a.Seq = l.n
	history, err := l.history.With(ctx, posterior.ItemOf(&q, a))
	if err != nil {
		return err
	}
	l.history = history
	l.core.Become(history.Posterior())
	return nil
}

// adopt replaces the generation if the training under way was to take no longer.
func (l *liveRun) adopt(ctx context.Context) error {
	if len(l.points) == 0 || l.schedule.InUse(l.points[0].n) > l.n {
		return nil
	}
	p := l.points[0]
	l.points = l.points[1:]
	return l.train(ctx, p)
}

// train trains from p and brings the generation into use.
func (l *liveRun) train(ctx context.Context, p point) (err error) {
	if l.gen, err = l.trainer.Train(ctx, idrl.TrainJob{BasedOn: p.n, Posterior: p.p, Seed: l.seed, Warm: l.core.Warm(p.p, nil)}); err != nil {
		return err
	}
	l.core.Adopt(nil, l.gen.Candidates)
	l.run.Solves += len(l.gen.Candidates)
	l.queries, err = vectors(&l.gen)
	return err
}

// vectors returns the queries of a generation under the features of its environment.
func vectors(g *idrl.Generation) ([]idrl.QueryVector, error) {
	return representation.New(nil, representation.Source{Remarks: true, Clip: func(id idrl.ClipID) (idrl.Clip, error) { return g.Clips[id], nil }}).Queries(g.Queries)
}

// topUp gives out queries until Schedule.Ahead are open.
func (l *liveRun) topUp() error {
	for len(l.open) < l.schedule.Ahead {
		q, ok, err := l.choose(l.open)
		if err != nil || !ok {
			return err
		}
		l.open = append(slices.Clip(l.open), q)
	}
	return nil
}

// choose gives out a query, chosen with regard to those that are pending. ok is false where
// there is none.
func (l *liveRun) choose(pending []idrl.QueryVector) (q idrl.QueryVector, ok bool, err error) {
	began := time.Now()
	askable := l.askable()
	if len(askable) == 0 {
		return q, false, nil
	}
	c, err := l.core.Choose(learning.Question{Askable: askable, Pending: pending}, rng.New(l.seed, "tie", uint64(len(l.given)+1)))
	if err != nil {
		return q, false, err
	}
	if q = askable[c.Query]; l.groups {
		if q, ok = l.group(q, c, pending); !ok {
			return q, false, nil
		}
	}
	l.run.SelectNS = append(l.run.SelectNS, time.Since(began).Nanoseconds())
	l.given = append(l.given, q)
	return q, true, nil
}

// group returns the group that begins with a pair, put together as in sessions; ok is false
// where there are too few clips that differ.
func (l *liveRun) group(pair idrl.QueryVector, c learning.Choice, pending []idrl.QueryVector) (q idrl.QueryVector, ok bool) {
	var ids []idrl.ClipID
	for _, q := range append([]idrl.QueryVector{pair}, l.queries...) {
		for _, id := range q.Clips {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	g := acquisition.Grouping{
		Likelihood: l.model.Groups(), Belief: l.model.ConditionOnPending(l.core.Posterior(), pending...), First: [2]int{0, 1}, Size: idrl.GroupSize,
		Weight: func(_ []int, _ int, _, variance []float64) float64 {
			if floats.Min(variance) > 0 {
				return 1
			}
			return 0
		},
	}
	for _, id := range ids {
		g.Clips = append(g.Clips, l.gen.Clips[id].Phi)
	}
	if first, second := l.mu(c.FirstID), l.mu(c.SecondID); first != nil && second != nil {
		g.Delta = floats.SubTo(make([]float64, len(first)), first, second)
	}
	places, _ := g.Choose()
	if len(places) < idrl.GroupSize {
		return q, false
	}
	chosen := make([]idrl.ClipID, len(places))
	for k, i := range places {
		chosen[k] = ids[i]
	}
	q.Query = idrl.NewGroup(chosen...)
	for _, id := range q.Clips {
		q.Each = append(q.Each, l.gen.Clips[id].Phi)
	}
	return q, true
}

// mu returns the feature expectation of a known policy, nil if it is none.
func (l *liveRun) mu(id idrl.PolicyID) []float64 {
	for _, c := range l.core.Policies().All() {
		if c.ID == id {
			return c.Mu
		}
	}
	return nil
}

// askable returns the queries of the generation that may be given out.
func (l *liveRun) askable() []idrl.QueryVector {
	is, place := make([]learning.Standing, len(l.queries)), make(map[idrl.QueryID]int, len(l.queries))
	for i, q := range l.queries {
		place[q.ID] = i
	}
	note := func(id idrl.QueryID, s learning.Standing) {
		if i, ok := place[id]; ok {
			is[i] |= s
		}
	}
	noteAll := func(q idrl.QueryVector, s learning.Standing) {
		note(q.ID, s)
		for i, a := range q.Clips {
			for _, b := range q.Clips[:i] {
				if q.Kind.Group() {
					note(idrl.PairID(a, b), s)
				}
			}
		}
	}
	for _, q := range l.open {
		noteAll(q, learning.Out|learning.Busy)
	}
	last := min(learning.Recent, max(0, len(l.queries)-1))
	for k, q := range slices.Backward(l.given) {
		noteAll(q, learning.Known)
		if len(l.given)-k <= last {
			noteAll(q, learning.Lately)
		}
	}
	return learning.Askable(nil, l.queries, is)
}

// measure notes how good the recommended policy and the posterior are, if that is
// wanted after so many answers.
func (l *liveRun) measure(answers int) {
	if int(l.n)%max(1, l.every) != 0 && int(l.n) != answers {
		return
	}
	mean := l.core.Posterior().Mean(nil)
	l.run.Regret = append(l.run.Regret, l.best-floats.Dot(l.theta, l.core.Recommend().Mu))
	l.run.MSE = append(l.run.MSE, l.mse(mean))
	l.run.Cosine = append(l.run.Cosine, l.cosine(mean))
}
