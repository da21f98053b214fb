package driven

import (
	"context"
	"time"

	"tiebreak/internal/idrl"
)

// A Trainer trains as idrl.Trainer does, and says how long that takes by the clock of the session.
type Trainer interface {
	Train(ctx context.Context, job idrl.TrainJob) (g idrl.Generation, took time.Duration, err error)
}

// A job is a training that the session has begun. It is not done before somebody needs to know how long it
// takes.
type job struct {
	begin   chan struct{}      // closed when it is to be done
	took    chan time.Duration // has one value when it is done
	release chan struct{}      // closed when its time has come
	gone    <-chan struct{}    // closed when the session has given it up

	began time.Duration // on the clock
	ends  time.Duration // likewise, once known
	known bool
}

// trains does the trainings of a session.
type trains struct {
	of    Trainer
	taken func(idrl.Generation) // may be nil
	fail  func(error)
}

// do does a training. An error ends the session, unless it has given the training up.
func (t trains) do(ctx context.Context, j idrl.TrainJob) (idrl.Generation, time.Duration, error) {
	j.Progress, j.Outlook = nil, nil // each would be an event of the session
	g, took, err := t.of.Train(ctx, j)
	if err != nil && ctx.Err() == nil {
		t.fail(err)
	}
	return g, took, err
}

// take says that the session takes g.
func (t trains) take(g idrl.Generation) {
	if t.taken != nil {
		t.taken(g)
	}
}

// timed is the trainer of a session whose generations come into use by the clock.
type timed struct {
	trains
	jobs chan *job // that the session begins
}

// Train implements idrl.Trainer.
func (t timed) Train(ctx context.Context, j idrl.TrainJob) (idrl.Generation, error) {
	out := &job{begin: make(chan struct{}), took: make(chan time.Duration, 1), release: make(chan struct{}), gone: ctx.Done()}
	select {
	case t.jobs <- out:
	case <-ctx.Done():
		return idrl.Generation{}, ctx.Err()
	}
	select {
	case <-out.begin:
	case <-ctx.Done():
		return idrl.Generation{}, ctx.Err()
	}
	g, took, err := t.do(ctx, j)
	if err != nil {
		return g, err
	}
	out.took <- took
	select {
	case <-out.release:
		t.take(g)
		return g, nil
	case <-ctx.Done():
		return idrl.Generation{}, ctx.Err()
	}
}

// prompt is the trainer of a session that waits for generations by itself (SessionSpec.AdoptAfter).
type prompt struct{ trains }

// Train implements idrl.Trainer.
func (t prompt) Train(ctx context.Context, j idrl.TrainJob) (idrl.Generation, error) {
	g, _, err := t.do(ctx, j)
	if err == nil {
		t.take(g)
	}
	return g, err
}
