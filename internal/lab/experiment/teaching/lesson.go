package teaching

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/base/record"
	"tiebreak/internal/data/library"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/driven"
	"tiebreak/internal/lab/seeing"
	"tiebreak/internal/learn/acquisition"
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
	c, err := begin(ctx, l, o)
	if err != nil {
		return Result{}, err
	}
	defer c.session.Close()
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
	session *driven.Session
	env     idrl.Environment
	given   int
	out     Result
}

// begin starts the session of a lesson. Whoever calls it ends it.
func begin(ctx context.Context, l Lesson, o Options) (*class, error) {
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
	c := &class{Lesson: l, o: o, spec: spec, person: seeing.Person{Taste: taste, Mistake: l.Mistake, Seed: l.Seed}}
	if c.env, err = training.Environment(o.Envs, spec); err != nil {
		return nil, err
	}
	c.session, err = c.start(ctx)
	return c, err
}

// start starts the session.
func (c *class) start(ctx context.Context) (*driven.Session, error) {
	m, err := training.Model(c.o.Envs, c.spec)
	if err != nil {
		return nil, err
	}
	method, err := acquisition.Find(c.spec.Acquisition)
	if err != nil {
		return nil, err
	}
	h := &training.Handler{Envs: func() envs.List { return c.o.Envs }, GaitSteps: c.o.Steps, Log: slog.New(slog.DiscardHandler)}
	local := &training.Local{Handler: h, Spec: c.spec, Model: m}
	return driven.Start(ctx, driven.Config{
		Spec: c.spec, Model: m, Method: method, Trainer: charged{local, c.o.CPU}, Taken: func(g idrl.Generation) { local.Agents = g.Agents },
	})
}

// charged is a trainer that takes as long as it uses a processor.
type charged struct {
	of  idrl.Trainer
	cpu func() (time.Duration, error)
}

// Train implements driven.Trainer.
func (t charged) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, time.Duration, error) {
	from, err := t.cpu()
	if err != nil {
		return idrl.Generation{}, 0, err
	}
	g, err := t.of.Train(ctx, job)
	if err != nil {
		return idrl.Generation{}, 0, err
	}
	to, err := t.cpu()
	return g, to - from, err
}

func (c *class) over() bool { return c.given == c.Answers || c.session.Now() >= c.Limit }

// annotator is the person, for the session.
const annotator idrl.AnnotatorID = "person"

// next answers a question. Without one the person waits for the training under way.
func (c *class) next(ctx context.Context) error {
	open, err := c.session.Claim(ctx, annotator)
	if err != nil {
		return err
	}
	if len(open) == 0 {
		ends, ok, err := c.session.Ends(ctx)
		if err == nil && !ok {
			err = fmt.Errorf("after %d answers there is nothing left to ask", c.given)
		}
		if err != nil {
			return err
		}
		return c.session.Until(ctx, ends)
	}
	if err := c.answer(ctx, open[0]); err != nil {
		return err
	}
	if c.given++; c.o.Every > 0 && c.given%c.o.Every == 0 && !c.over() {
		return c.point(ctx, false)
	}
	return nil
}

// answer answers a question, which takes its time.
func (c *class) answer(ctx context.Context, as record.Assignment) (err error) {
	one := Asked{BasedOn: as.Why.BasedOn}
	for k, to := range []**clip.Clip{&one.A, &one.B} {
		media, err := c.session.Media(ctx, as.Query.Clips[k])
		if err != nil {
			return err
		}
		if *to, err = clip.Decode(media); err != nil {
			return err
		}
	}
	if one.Answer, err = c.person.Compare(c.given, one.A, one.B); err != nil {
		return err
	}
	if err := c.session.Until(ctx, c.session.Now()+c.Each); err != nil {
		return err
	}
	c.out.Asked = append(c.out.Asked, one)
	return c.session.Answer(ctx, as, one.Answer)
}

// finish waits for the training under way, and for the one after the last answer, if they
// end within the limit.
func (c *class) finish(ctx context.Context) error {
	for c.session.Trains() {
		ends, _, err := c.session.Ends(ctx)
		if err != nil || ends > c.Limit {
			return err
		}
		if err := c.session.Until(ctx, ends); err != nil {
			return err
		}
	}
	return nil
}

// follow waits for follow-ups, if the person waits.
func (c *class) follow(ctx context.Context) error {
	until := min(c.session.Now()+c.Wait, c.Limit)
	for c.session.FollowsUp() && c.session.Now() < until {
		ends, _, err := c.session.Ends(ctx)
		if err != nil {
			return err
		}
		if err := c.session.Until(ctx, min(ends, until)); err != nil {
			return err
		}
	}
	return nil
}

// point notes what the session recommends.
func (c *class) point(ctx context.Context, finished bool) error {
	leader, err := c.session.Recommended(ctx)
	if err != nil {
		return err
	}
	posterior, err := c.session.Posterior(ctx)
	if err != nil {
		return err
	}
	out, err := Play(ctx, c.env, leader.Params)
	if err != nil {
		return fmt.Errorf("play %s: %w", leader.ID, err)
	}
	p := Point{
		Answers: c.given, Clock: c.session.Now().Seconds(), Trained: c.session.Trained().Seconds(), Outcome: out, Leader: leader.ID,
		Weights: posterior.Mean(nil), Finished: finished,
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
	leader, err := c.session.Recommended(ctx)
	if err != nil {
		return nil, err
	}
	stock := trainer.Stock{NewEnv: newEnv, Remake: behaviour.Remake, Encode: clip.Encode}
	clips, err := stock.Clips(ctx, library.Behaviour{Name: string(leader.ID), Params: leader.Params})
	if err != nil {
		return nil, err
	}
	return clip.Decode(clips[0].Media)
}
