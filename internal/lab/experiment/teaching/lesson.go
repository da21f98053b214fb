package teaching

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/seeing"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/plan/behaviour"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/trainer"
	"tiebreak/internal/train/training"
)

// A Lesson is one person who teaches one robot.
type Lesson struct {
	Env, Taste string // of package seeing
	Seed       uint64 // of the session and the person

	Answers int           // comparisons, at most; the session is complete after them
	Each    time.Duration // that an answer takes
	Limit   time.Duration // of the lesson; what is trained after it does not count
	Wait    time.Duration // that the person waits after the last training, at most, while searches go on
	Mistake float64       // probability that an answer is the opposite
}

// Default returns the lesson that a robot is to be taught by: 60 answers of 3 s in 10
// minutes, one in ten of them wrong.
func Default() Lesson {
	return Lesson{Answers: 60, Each: 3 * time.Second, Limit: 10 * time.Minute, Mistake: 0.1}
}

// A Point records the policy that the session recommends at one moment of a lesson.
type Point struct {
	Answers  int     // given so far
	Clock    float64 // of the lesson, s
	Trained  float64 // processor time of the trainings so far, s
	Outcome  Outcome
	Leader   idrl.PolicyID
	Weights  []float64 // mean of the posterior
	Finished bool      // nothing is trained any more
}

// An Asked is a question with its answer.
type Asked struct {
	A, B    *clip.Clip
	Answer  idrl.Answer
	BasedOn int64 // of the generation
}

// A Result is how a lesson went.
type Result struct {
	Points []Point // the last one is that of the end
	Asked  []Asked

	Before, After *clip.Clip // the recommended policy before the first answer and at the end
}

// Options are what does not change what is learnt.
type Options struct {
	Envs     envs.List                     // required
	CPU      func() (time.Duration, error) // processor time of this process; required
	Steps    int                           // of searches for each answer; 0: as in sessions
	Every    int                           // answers between two points; 0: one at the end alone
	Progress func(Point)                   // may be nil
}

// Do gives a lesson. Its clock, and by that the moment at which a generation comes into
// use, depends on the speed of the processor; all else is a function of the lesson.
func Do(ctx context.Context, l Lesson, o Options) (Result, error) {
	c, err := begin(l, o)
	if err != nil {
		return Result{}, err
	}
	if err := c.train(ctx); err != nil {
		return Result{}, err
	}
	if c.out.Before, err = c.film(ctx); err != nil {
		return Result{}, err
	}
	for !c.over() {
		if err := c.next(ctx); err != nil {
			return Result{}, err
		}
	}
	if err := c.finish(ctx); err != nil {
		return Result{}, err
	}
	if err := c.follow(ctx); err != nil {
		return Result{}, err
	}
	if c.out.After, err = c.film(ctx); err != nil {
		return Result{}, err
	}
	err = c.point(ctx, true)
	return c.out, err
}

// A class is a running lesson.
type class struct {
	Lesson
	o       Options
	person  seeing.Person
	spec    idrl.SessionSpec
	trainer *training.Local
	learner *learning.Learner
	env     idrl.Environment

	clock   time.Duration
	trained time.Duration
	given   int
	gen     idrl.Generation // in use
	coming  *idrl.Generation
	at      time.Duration // when coming is there
	asked   map[idrl.QueryID]bool
	items   []posterior.Item // all answers
	out     Result
}

func begin(l Lesson, o Options) (*class, error) {
	taste, err := seeing.Find(l.Env, l.Taste)
	if err != nil {
		return nil, err
	}
	spec := settings.Complete(idrl.SessionSpec{ID: "lesson", Title: "Lesson", Env: l.Env, Seed: l.Seed, Solver: idrl.GaitSolver, Budget: l.Answers})
	if spec, err = training.Complete(o.Envs, spec); err != nil {
		return nil, err
	}
	if err := training.CheckSpec(o.Envs, spec); err != nil {
		return nil, err
	}
	m, err := training.Model(o.Envs, spec)
	if err != nil {
		return nil, err
	}
	method, err := acquisition.Find(spec.Acquisition)
	if err != nil {
		return nil, err
	}
	env, err := training.Environment(o.Envs, spec)
	if err != nil {
		return nil, err
	}
	h := &training.Handler{Envs: func() envs.List { return o.Envs }, GaitSteps: o.Steps, Log: slog.New(slog.DiscardHandler)}
	return &class{
		Lesson: l, o: o, spec: spec, env: env,
		person:  seeing.Person{Taste: taste, Mistake: l.Mistake, Seed: l.Seed},
		trainer: &training.Local{Handler: h, Spec: spec, Model: m},
		learner: learning.New(learning.Config{Model: m, Method: method, Schedule: learning.OfSession(spec)}),
		asked:   map[idrl.QueryID]bool{},
	}, nil
}

func (c *class) over() bool { return c.given == c.Answers || c.clock >= c.Limit }

// next asks a question, and has trainings begin and end that are due.
func (c *class) next(ctx context.Context) error {
	if c.coming != nil && c.clock >= c.at {
		c.adopt()
	}
	if c.coming == nil && c.given >= firstTraining && int64(c.given)-c.gen.BasedOn >= idrl.DearTrainEvery {
		if err := c.train(ctx); err != nil {
			return err
		}
	}
	ok, err := c.ask(ctx)
	if err != nil {
		return err
	}
	if !ok { // the person waits
		if c.coming == nil {
			return fmt.Errorf("after %d answers there is nothing left to ask", c.given)
		}
		c.clock = max(c.clock, c.at)
		return nil
	}
	c.clock += c.Each
	if c.given++; c.o.Every > 0 && c.given%c.o.Every == 0 && !c.over() {
		return c.point(ctx, false)
	}
	return nil
}

// firstTraining is the answer after which a session begins to train.
const firstTraining = 5

// train trains from the answers so far. The first training is waited for.
func (c *class) train(ctx context.Context) error {
	first := c.out.Asked == nil
	g, took, err := c.charged(ctx, idrl.TrainJob{BasedOn: int64(c.given), First: first, Last: !first && c.over()})
	if err != nil {
		return err
	}
	c.coming, c.at = &g, c.clock+took
	if first {
		c.clock = c.at
		c.adopt()
	}
	return nil
}

// charged does a training from the present posterior, and returns how much time of a processor
// it used.
func (c *class) charged(ctx context.Context, job idrl.TrainJob) (idrl.Generation, time.Duration, error) {
	from, err := c.o.CPU()
	if err != nil {
		return idrl.Generation{}, 0, err
	}
	p := c.learner.Posterior()
	job.Posterior, job.Seed, job.Warm = p, c.Seed, c.learner.Warm(p, nil)
	g, err := c.trainer.Train(ctx, job)
	if err != nil {
		return idrl.Generation{}, 0, err
	}
	to, err := c.o.CPU()
	c.trained += to - from
	return g, to - from, err
}

func (c *class) adopt() {
	c.gen, c.coming = *c.coming, nil
	c.learner.Adopt(c.gen.Pool, c.gen.Candidates)
}

// ask asks the best question that was not asked before; ok is false if there is none.
func (c *class) ask(ctx context.Context) (ok bool, err error) {
	var askable []idrl.QueryVector
	for _, q := range c.gen.Queries {
		if !c.asked[q.ID] {
			askable = append(askable, idrl.ComparisonVector(c.gen.Clips[q.Clips[0]], c.gen.Clips[q.Clips[1]]))
		}
	}
	if len(askable) == 0 {
		return false, nil
	}
	choice, err := c.learner.Choose(learning.Question{Askable: askable}, rng.New(c.Seed, "choice", uint64(c.given)))
	if err != nil {
		return false, err
	}
	q := askable[choice.Query]
	c.asked[q.ID] = true
	one := Asked{BasedOn: c.gen.BasedOn}
	for k, to := range []**clip.Clip{&one.A, &one.B} {
		if *to, err = clip.Decode(c.gen.Clips[q.Clips[k]].Media); err != nil {
			return false, err
		}
	}
	if one.Answer, err = c.person.Compare(c.given, one.A, one.B); err != nil {
		return false, err
	}
	c.out.Asked = append(c.out.Asked, one)
	c.items = append(c.items, posterior.ItemOf(&q, one.Answer))
	p, err := posterior.Of(ctx, c.trainer.Model, c.items)
	if err != nil {
		return false, err
	}
	c.learner.Become(p)
	return true, nil
}

// finish waits for the training under way, and for the one after the last answer, if they
// end within the limit.
func (c *class) finish(ctx context.Context) error {
	for {
		if c.coming != nil {
			if c.at > c.Limit {
				return nil
			}
			c.clock = max(c.clock, c.at)
			c.adopt()
		}
		if c.gen.BasedOn == int64(c.given) || c.given < firstTraining {
			return nil
		}
		if err := c.train(ctx); err != nil {
			return err
		}
	}
}

// follow goes on with the searches after the last training, as a session does while no answers
// come, if the person waits.
func (c *class) follow(ctx context.Context) error {
	until := min(c.clock+c.Wait, c.Limit)
	for left := learning.FollowUps; left > 0 && c.clock < until; left-- {
		more, took, err := c.charged(ctx, idrl.TrainJob{BasedOn: c.gen.BasedOn, From: len(c.gen.Candidates)})
		if c.clock = min(c.clock+took, until); err != nil || c.clock == until {
			return err
		}
		if len(more.Candidates) == 0 {
			left -= learning.DryFollowUps - 1
		}
		c.gen.Candidates = append(c.gen.Candidates, more.Candidates...)
		c.learner.Extend(more.Candidates)
	}
	return nil
}

// point notes what the session recommends.
func (c *class) point(ctx context.Context, finished bool) error {
	leader, params := c.leader()
	out, err := Play(ctx, c.env, params)
	if err != nil {
		return fmt.Errorf("play %s: %w", leader, err)
	}
	p := Point{
		Answers: c.given, Clock: c.clock.Seconds(), Trained: c.trained.Seconds(), Outcome: out, Leader: leader,
		Weights: c.learner.Posterior().Mean(nil), Finished: finished,
	}
	c.out.Points = append(c.out.Points, p)
	if c.o.Progress != nil {
		c.o.Progress(p)
	}
	return nil
}

// film returns a clip of the recommended policy at work.
func (c *class) film(ctx context.Context) (*clip.Clip, error) {
	newEnv := func() idrl.Environment {
		env, err := training.Environment(c.o.Envs, c.spec)
		if err != nil {
			panic(err) // it was found before, and the list is constant
		}
		return env
	}
	leader, params := c.leader()
	stock := trainer.Stock{NewEnv: newEnv, Remake: behaviour.Remake, Encode: clip.Encode}
	clips, err := stock.Clips(ctx, idrl.Behaviour{Name: string(leader), Params: params})
	if err != nil {
		return nil, err
	}
	return clip.Decode(clips[0].Media)
}

// leader returns the recommended policy.
func (c *class) leader() (idrl.PolicyID, []float64) {
	best := c.learner.Recommend()
	return best.ID, best.Params
}
