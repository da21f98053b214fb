package jobs

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Config configures a Pool.
type Config struct {
	Store    Store         // required
	Command  []string      // default: this program with the argument "worker"
	Env      []string      // of the workers, besides this process's own
	Workers  int           // long jobs that are done at a time on this machine; default as many as there are processors, up to 4; below 0: none
	Attempts int           // starts of a job whose worker dies; default 3
	Backoff  time.Duration // before the second start, doubled before each further; default 250 ms
	Silence  time.Duration // without a sign of life after which a worker is killed; default 1 min
	Log      *slog.Logger  // default slog.Default()
}

// A Pool gives jobs to worker processes: urgent ones first, then the others by how long they
// have waited and how long they take (order.go), then those that yield (Job.Yields).
//
//   - At most Config.Workers long jobs are done at a time. There is one process more than
//     that, so that one of them can be paused for another that needs less than half of what
//     it has left. A job that is paused waits at its next report, and goes on where it was.
//   - Short jobs wait for no long one: they get any idle process.
//   - Of urgent jobs that end soon, half as many as Config.Workers are done at a time.
//   - One process does urgent and short jobs only, so that a session that is opened does not
//     wait for the training of another.
//
// Processes are started when there is work for them, and kept. They have normal priority for
// jobs that are urgent, short or wanted soon, less for others, and the least for those that
// yield. A process cannot raise its priority again: it is replaced where a job needs more.
//
// Workers on other machines join it (Join). A job that is lost with one of them is given to another, and then to a process
// of this machine.
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
	queue   []*ticket // that wait for a worker, in order of arrival
	places  int64     // of tickets so far
	typical map[string]length
	refused error // why no worker can be used: they are of another version; nil otherwise
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
	if c.Workers >= 0 {
		c.Workers = or(c.Workers, min(4, runtime.NumCPU()))
	}
	c.Attempts = or(c.Attempts, 3)
	c.Backoff = or(c.Backoff, 250*time.Millisecond)
	c.Silence = or(c.Silence, time.Minute)
	if c.Log == nil {
		c.Log = slog.Default()
	}
	p := &Pool{c: c, closed: make(chan struct{}), typical: map[string]length{}}
	p.back = sync.NewCond(&p.mu)
	if c.Workers > 0 {
		for k := range c.Workers + 2 {
			p.workers = append(p.workers, &worker{urgentOnly: k == 0})
		}
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
		for len(p.idle) < len(p.workers) {
			p.back.Wait()
		}
		workers := p.workers
		p.workers, p.idle = nil, nil // from now on they are this goroutine's
		p.back.Broadcast()
		p.mu.Unlock()
		var wg sync.WaitGroup
		for _, w := range workers {
			wg.Go(w.stop)
		}
		wg.Wait()
	})
	return nil
}

// Start returns the stream of a job. The job is queued when its events are first asked
// for, and the stream ends with Done or with an error. Leaving it early, or ctx, stops
// the job, which stays recorded as waiting. If the worker dies the job is given to a
// worker again, a few times, waits for its turn each time, and goes on from its last
// checkpoint.
//
// The error is that of the handler, with its kind; ctx.Err(); of kind Invalid if the
// payload is too large; of kind Conflict if the job is being done already, or if the
// workers are of another version of the protocol than the pool, which does not try
// again; of kind Unavailable if the pool is closed; or of kind Internal if the workers
// die.
func (p *Pool) Start(ctx context.Context, job Job) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, stop := p.untilClosed(ctx)
		defer stop()
		left := false
		emit := func(e Event) {
			if !left && !yield(e, nil) {
				left = true
				stop()
			}
		}
		done, err := p.attempts(ctx, job, emit)
		switch {
		case left:
		case err != nil:
			yield(nil, p.why(err))
		default:
			yield(done, nil)
		}
	}
}

// Forget tells the workers that a session has ended.
func (p *Pool) Forget(session idrl.SessionID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.workers {
		if !slices.Contains(w.ended, session) {
			w.ended = append(w.ended, session)
		}
	}
	for _, w := range p.idle {
		w.tellEnded()
	}
}

// tellEnded tells the process of w which sessions have ended. The caller owns w and
// holds the pool's mu.
func (w *worker) tellEnded() {
	if w.alive() {
		for _, session := range w.ended {
			w.send(frame{kind: typeForget, body: []byte(session)}) // if it fails, the process is gone
		}
	}
	w.ended = nil
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

func (p *Pool) attempts(ctx context.Context, job Job, emit func(Event)) (Done, error) {
	if err := CheckSize("the payload", len(job.Payload)); err != nil {
		return Done{}, idrl.Errorf(idrl.Invalid, "job %s of session %s: %v", job.Kind, job.Session, err)
	}
	if err := p.useless(); err != nil {
		return Done{}, err
	}
	record := record.JobRecord{JobKey: job.JobKey, Priority: job.Priority, Payload: job.Payload}
	if err := p.c.Store.QueueJob(ctx, record, time.Now()); err != nil {
		return Done{}, err
	}
	job.Payload = nil // the store has it
	var last error
	lost, most := 0, lostElsewhere // times that the link to a worker elsewhere was lost, which is not the job's fault
	if p.c.Workers < 0 {
		most = lostInAll
	}
	for k := 0; k < p.c.Attempts; k++ {
		if last != nil {
			if err := pause(ctx, p.c.Backoff<<max(k-1, 0)); err != nil {
				return Done{}, err
			}
		}
		done, err := p.inTurn(ctx, &ticket{job: job, emit: emit, last: k == p.c.Attempts-1, spare: lost < most, here: lost >= lostElsewhere})
		if errors.Is(err, errOusted) {
			k--
			continue
		}
		if errors.Is(err, errVersion) {
			p.refuse(err)
		}
		if !errors.Is(err, errDied) {
			return done, err
		}
		if errors.Is(err, errLost) && lost < most {
			lost++
			k--
		}
		last = err
		p.c.Log.Warn("worker lost", "session", job.Session, "job", job.Kind, "based_on", job.BasedOn, "err", err)
	}
	return Done{}, fmt.Errorf("job %s %d of session %s, %d times: %w", job.Kind, job.BasedOn, job.Session, p.c.Attempts, last)
}

// refuse remembers that workers are of another version: the program was replaced while
// it ran, and starting more of them would not help.
func (p *Pool) refuse(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = why
	p.c.Log.Error("workers cannot be used", "err", why)
}

func (p *Pool) useless() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused
}

// inTurn waits for a worker and has it do the job once.
func (p *Pool) inTurn(ctx context.Context, t *ticket) (done Done, err error) {
	t.given, t.moved, t.turn = make(chan *worker, 1), make(chan struct{}, 1), make(chan bool, 1)
	turn, stop := context.WithCancel(ctx)
	defer stop()
	t.stop = stop
	defer func() {
		if errors.Is(err, context.Canceled) && ctx.Err() == nil {
			err = errOusted
		}
	}()
	w, err := p.wait(turn, t)
	if err != nil {
		return Done{}, err
	}
	ended := false
	defer func() { p.release(w, ended && err == nil) }() // also if the reader of the stream panics
	done, err = p.attempt(turn, w, t)
	ended = true
	return done, err
}

// How often a job may be lost with the link to a worker elsewhere before it is done on this machine, and before that counts
// as a death of the worker where this machine does no jobs.
const (
	lostElsewhere = 2
	lostInAll     = 10
)

// errOusted says that an attempt was ended for another job, which goes first.
var errOusted = errors.New("another job came first")

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
