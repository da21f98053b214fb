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

// Key names a job. Kind is its task, such as "train".
type Key struct {
	Session idrl.SessionID
	Kind    string
	BasedOn int64 // position in the session's log
}

// first reports whether people wait for the job before they can do anything.
func (k Key) first() bool { return k.BasedOn == 0 }

// A Job is a task for a worker.
type Job struct {
	Key
	Like     string // jobs with the same Like take about as long, first ones and others apart
	Payload  []byte
	Progress idrl.Progress      // may be nil; called from the goroutine of Do
	Outlook  func(idrl.Outlook) // may be nil; called from the goroutine of Do, when it changes and every few seconds
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

// A Pool gives jobs to worker processes, first come, first served. It starts a
// process when there is a first job for it and keeps it.
//
// A job based on no answer is a first job: people wait for it before they can
// label. One process does nothing but first jobs, so that a session that is opened
// does not wait for the training of another; any other process that has nothing to
// do takes first jobs, too. A worker lowers its priority for good when it does any
// other job, so a process that has done one is replaced before it does a first job.
//
// The methods of a Pool may be called from any goroutine.
type Pool struct {
	c      Config
	closed chan struct{} // closed by Close
	once   sync.Once     // guards the closing of closed

	mu      sync.Mutex // guards all below, and the fields of tickets and workers that say so
	back    *sync.Cond // a worker is idle again
	workers []*worker
	idle    []*worker
	queue   []*ticket // that wait for a worker, the oldest first
	typical map[string]time.Duration
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
	p := &Pool{c: c, closed: make(chan struct{}), typical: map[string]time.Duration{}}
	p.back = sync.NewCond(&p.mu)
	for k := range c.Workers + 1 {
		p.workers = append(p.workers, &worker{firstOnly: k == 0})
	}
	p.idle = append(p.idle, p.workers...)
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
		p.mu.Lock()
		defer p.mu.Unlock()
		for len(p.idle) < len(p.workers) {
			p.back.Wait()
		}
		for _, w := range p.workers {
			w.stop()
		}
	})
	return nil
}

// A Result is the outcome of a job.
type Result struct {
	Bytes []byte
	by    *process
	log   *slog.Logger
}

// Reject says that the result is false, though it came in good order. The process
// that made it is ended, and another takes its place.
func (r Result) Reject(why error) {
	if r.by == nil {
		return
	}
	r.log.Warn("worker ended: its result was refused", "err", why)
	_ = r.by.cmd.Process.Kill() // it may be gone already
}

// Do has a worker do a job and returns its result. It waits for its turn. If the
// worker dies the job is given to a worker again, a few times, and waits for its
// turn each time. The error is that of the handler, with its kind; ctx.Err(); of
// kind Conflict if the job is being done already; of kind Unavailable if the pool
// is closed; or of kind Internal if the workers die.
func (p *Pool) Do(ctx context.Context, job Job) (Result, error) {
	ctx, stop := p.untilClosed(ctx)
	defer stop()
	r, err := p.attempts(ctx, job)
	return r, p.why(err)
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

func (p *Pool) attempts(ctx context.Context, job Job) (Result, error) {
	var last error
	for k := range p.c.Attempts {
		if k > 0 {
			if err := pause(ctx, p.c.Backoff<<(k-1)); err != nil {
				return Result{}, err
			}
		}
		result, err := p.inTurn(ctx, job)
		if !errors.Is(err, errDied) {
			return result, err
		}
		last = err
		p.c.Log.Warn("worker lost", "session", job.Session, "job", job.Kind, "based_on", job.BasedOn, "err", err)
	}
	return Result{}, fmt.Errorf("job %s %d of session %s, %d times: %w", job.Kind, job.BasedOn, job.Session, p.c.Attempts, last)
}

// inTurn waits for a worker and has it do the job once.
func (p *Pool) inTurn(ctx context.Context, job Job) (Result, error) {
	t := &ticket{job: job, given: make(chan *worker, 1), moved: make(chan struct{}, 1)}
	w, err := p.wait(ctx, t)
	if err != nil {
		return Result{}, err
	}
	result, err := p.attempt(ctx, w, t)
	p.release(w, err == nil)
	return result, err
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
