package jobs

import (
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"

	"tiebreak/internal/idrl"
)

// A Starter has jobs done by workers, as Pool does.
type Starter interface {
	Start(ctx context.Context, job Job) iter.Seq2[Event, error]
}

// AtOnce is the number of goroutines that call Batch.Do for a caller with more jobs than that: more
// than there are workers. A goroutine that waits costs little.
const AtOnce = 1000

// ahead is how many jobs of a Batch wait for a worker at a time. More than one, because a worker on
// another machine would have nothing to do until the next job has reached the Starter.
const ahead = 8

// A Batch has many jobs done that do not depend on one another, each as if it were of a session of its
// own. As many are under way as the Starter takes: the next job is started when one of the few that
// wait has been begun by a worker. Its methods may be called from any goroutine.
type Batch struct {
	to      Starter
	id      string // of this batch among those of other programs
	started atomic.Int64
	waiting chan struct{} // an element for each job that was started and is not begun
}

// NewBatch returns a batch of jobs of to.
func NewBatch(to Starter) *Batch {
	return &Batch{to: to, id: strings.ToLower(rand.Text()), waiting: make(chan struct{}, ahead)}
}

// Do has a job done and gives accept the bytes of its artefact, which has that name. It names the
// session of the job. heard, unless it is nil, is told how far the job is; after the death of a
// worker it is told so from the start.
//
// Do returns the error of the stream of the job, as Pool.Start says. If accept returns an error, or
// the worker handed over no such artefact, the result is rejected (Done.Reject), and Do returns an
// error of kind Internal.
func (b *Batch) Do(ctx context.Context, job Job, artefact string, heard func(Progress), accept func([]byte) error) error {
	select {
	case b.waiting <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	waits := true
	begun := func() {
		if waits {
			<-b.waiting
		}
		waits = false
	}
	defer begun() // a job that ends does not wait either
	job.Session = idrl.SessionID(fmt.Sprintf("%s-%d", b.id, b.started.Add(1)))
	var result []byte
	for e, err := range b.to.Start(ctx, job) {
		if err != nil {
			return err
		}
		switch e := e.(type) {
		case Began:
			result = nil
			begun()
		case Progress:
			if heard != nil {
				heard(e)
			}
		case Artefact:
			if e.Name == artefact {
				result = e.Bytes
			}
		case Done:
			err := fmt.Errorf("the worker handed over no artefact %q", artefact)
			if result != nil {
				err = accept(result)
			}
			if err != nil {
				err = fmt.Errorf("the result of job %s cannot be used: %v", job.Kind, err) //nolint:errorlint // its kind is that of the worker's fault, not of the caller's
				e.Reject(err)
			}
			return err
		}
	}
	return fmt.Errorf("the stream of job %s has no end", job.Kind)
}
