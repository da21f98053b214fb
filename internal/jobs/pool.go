// Package jobs does long work, such as training, in worker processes of low
// priority, so that it neither slows nor endangers labelling. What is being
// worked on, by which attempt, and how far it is, stands in a store.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"tiebreak/internal/idrl"
)

// Key names a job. Kind is what to do, such as "train".
type Key struct {
	Session idrl.SessionID
	Kind    string
	BasedOn int64 // position in the session's log
}

// Store records jobs. attempt counts the starts of a job and is a fence: only
// the last attempt can report.
type Store interface {
	// BeginJob starts a job and leases it. It returns an error of kind Conflict
	// if the job is leased to another.
	BeginJob(ctx context.Context, session idrl.SessionID, kind string, basedOn int64, now, lease time.Time) (attempt int64, err error)

	// BeatJob extends the lease and records progress. It returns an error of
	// kind Conflict if the job was started again or has ended.
	BeatJob(ctx context.Context, session idrl.SessionID, kind string, basedOn, attempt int64, lease time.Time, done, total int, what string) error

	// EndJob records the end: done if failure is empty. It returns the errors
	// of BeatJob.
	EndJob(ctx context.Context, session idrl.SessionID, kind string, basedOn, attempt int64, now time.Time, failure string) error
}

// Config configures a Pool.
type Config struct {
	Store    Store         // required
	Command  []string      // default: this program with the argument "worker"
	Env      []string      // of the workers, besides this process's own
	Workers  int           // processes, besides one for first jobs; default 1
	Attempts int           // starts of a job whose worker dies; default 3
	Backoff  time.Duration // before the second start, doubled before each further; default 250 ms
	Silence  time.Duration // without a sign of life after which a worker is killed; default 1 min
	Log      *slog.Logger  // default slog.Default()
}

// A Pool gives jobs to worker processes. It starts a process when there is a
// first job for it and keeps it. One process does nothing but jobs based on no
// answer, for whoever opens a session is not to wait for the training of another.
// Its methods may be called from any goroutine.
type Pool struct {
	c      Config
	free   chan *worker  // workers without a job; all of them once closed
	first  chan *worker  // the one for jobs based on no answer, while it has none
	closed chan struct{} // closed by Close
	once   sync.Once     // guards the closing of closed
}

// NewPool returns a Pool. The caller must Close it. It panics if c has no
// store.
func NewPool(c Config) (*Pool, error) {
	if c.Store == nil {
		panic("jobs: no store")
	}
	if len(c.Command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this program to start workers: %w", err)
		}
		c.Command = []string{self, "worker"}
	}
	c.Workers = or(c.Workers, 1)
	c.Attempts = or(c.Attempts, 3)
	c.Backoff = or(c.Backoff, 250*time.Millisecond)
	c.Silence = or(c.Silence, time.Minute)
	if c.Log == nil {
		c.Log = slog.Default()
	}
	p := &Pool{c: c, free: make(chan *worker, c.Workers), first: make(chan *worker, 1), closed: make(chan struct{})}
	p.first <- &worker{}
	for range c.Workers {
		p.free <- &worker{}
	}
	return p, nil
}

func or[T int | time.Duration](v, standard T) T {
	if v > 0 {
		return v
	}
	return standard
}

// Close stops the jobs under way and all workers, and waits for them.
func (p *Pool) Close() error {
	p.once.Do(func() {
		close(p.closed)
		for range p.c.Workers {
			(<-p.free).stop()
		}
		(<-p.first).stop()
	})
	return nil
}

// Do has a worker do the job key and returns its result. It waits for a free
// worker. If the worker dies it starts another, a few times. progress, which
// may be nil, is called from this goroutine. The error is that of the handler,
// with its kind; ctx.Err(); of kind Conflict if the job is being done
// already; of kind Unavailable if the pool is closed; or of kind Internal if
// the workers die.
func (p *Pool) Do(ctx context.Context, key Key, payload []byte, progress idrl.Progress) ([]byte, error) {
	ctx, stop := p.untilClosed(ctx)
	defer stop()
	lane := p.free
	if key.BasedOn == 0 {
		lane = p.first
	}
	select {
	case w := <-lane:
		defer func() { lane <- w }()
		result, err := p.attempts(ctx, w, key, payload, progress)
		return result, p.why(err)
	case <-ctx.Done():
		return nil, p.why(ctx.Err())
	}
}

// untilClosed returns a context that is also done when the pool is closed.
func (p *Pool) untilClosed(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-p.closed:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// why tells the caller's cancellation from the pool's.
func (p *Pool) why(err error) error {
	if errors.Is(err, context.Canceled) {
		select {
		case <-p.closed:
			return idrl.Errorf(idrl.Unavailable, "the server is stopping")
		default:
		}
	}
	return err
}

func (p *Pool) attempts(ctx context.Context, w *worker, key Key, payload []byte, progress idrl.Progress) ([]byte, error) {
	var last error
	for k := range p.c.Attempts {
		if k > 0 {
			if err := pause(ctx, p.c.Backoff<<(k-1)); err != nil {
				return nil, err
			}
		}
		result, err := p.attempt(ctx, w, key, payload, progress)
		if !errors.Is(err, errDied) {
			return result, err
		}
		last = err
		p.c.Log.Warn("worker lost", "session", key.Session, "job", key.Kind, "based_on", key.BasedOn, "err", err)
	}
	return nil, fmt.Errorf("job %s %d of session %s, %d times: %w", key.Kind, key.BasedOn, key.Session, p.c.Attempts, last)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
