package jobs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"tiebreak/internal/idrl"
)

// beatEvery is how often a worker gives a sign of life.
const beatEvery = time.Second

// grace is how long a job that was told to stop may take to do so.
const grace = 3 * time.Second

// Serve is the worker's side: it reads jobs from in, has handler do one at a time, and
// writes signs of life and what the handler reports to out, until in ends (the server
// has closed it or died) or ctx is done. Then it stops the job under way, waits for it
// for a few seconds at most, and returns; the caller should end the process. It returns
// nil if in ended between two frames, and an error if the server speaks another version
// of the protocol. Its reading goroutine ends with in.
func Serve(ctx context.Context, in io.Reader, out io.Writer, handler Handler) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &server{handler: handler, out: out, frames: make(chan frame), finished: make(chan frame, 1)}
	if err := s.write(hello()); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- s.read(ctx, bufio.NewReader(in)) }()

	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	for {
		var err error
		select {
		case f := <-s.frames:
			err = s.take(ctx, f)
		case end := <-s.finished:
			s.cancel = nil // before the server hears of it and sends the next
			err = s.write(end)
		case <-beat.C:
			if s.cancel != nil {
				err = s.write(frame{kind: typeAlive, id: s.current})
			}
		case err = <-ended:
			stop()
			s.wait()
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		case <-ctx.Done():
			s.wait()
			return ctx.Err()
		}
		if err != nil {
			stop()
			s.wait()
			return err
		}
	}
}

// A server is the state of Serve. Its goroutine owns all but out.
type server struct {
	handler  Handler
	frames   chan frame
	finished chan frame // the end of each job

	current uint64             // id of the last job
	cancel  context.CancelFunc // of the job under way; nil if there is none
	gate    *gate              // of the last job

	mu  sync.Mutex // guards out
	out io.Writer
}

func (s *server) read(ctx context.Context, in io.Reader) error {
	if err := readHello(in, false); err != nil {
		return err
	}
	for {
		f, err := readFrame(in, false)
		if err != nil {
			return err
		}
		select {
		case s.frames <- f:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take does what a frame of the server says.
func (s *server) take(ctx context.Context, f frame) error {
	switch f.kind {
	case typeCancel:
		if s.cancel != nil && f.id == s.current {
			s.cancel()
		}
		return nil
	case typePause, typeResume:
		if s.cancel != nil && f.id == s.current {
			s.gate.set(f.kind == typePause)
		}
		return nil
	case typeForget:
		s.handler.Forget(idrl.SessionID(f.body))
		return nil
	case typeStart:
		return s.start(ctx, f)
	default:
		return fmt.Errorf("a frame of type %d among jobs", f.kind)
	}
}

func (s *server) start(ctx context.Context, f frame) error {
	if s.cancel != nil {
		return errors.New("a job arrived while another is under way")
	}
	job, err := decodeJob(f.body)
	if err != nil {
		return fmt.Errorf("job %d: %w", f.id, err)
	}
	ctx, s.cancel = context.WithCancel(ctx)
	s.current, s.gate = f.id, &gate{job: ctx}
	cancel, to := s.cancel, &reporter{server: s, id: f.id, gate: s.gate}
	go func() {
		defer cancel()
		err := s.handler.Do(ctx, job, to)
		s.finished <- frame{kind: typeEnd, id: f.id, body: encodeEnd(err)}
	}()
	return nil
}

// wait waits for the job under way, which has been told to stop.
func (s *server) wait() {
	if s.cancel == nil {
		return
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-s.finished:
	case <-late.C:
	}
}

func (s *server) write(f frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return writeFrame(s.out, f)
}

// A gate blocks a job while it is paused.
type gate struct {
	job context.Context //nolint:containedctx // a gate belongs to one job

	mu   sync.Mutex
	open chan struct{} // closed when the job goes on; nil while it is not paused; guarded by mu
}

func (g *gate) set(paused bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case paused && g.open == nil:
		g.open = make(chan struct{})
	case !paused && g.open != nil:
		close(g.open)
		g.open = nil
	}
}

// pass returns when the job is not paused, or is stopped.
func (g *gate) pass() {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	if open == nil {
		return
	}
	select {
	case <-open:
	case <-g.job.Done():
	}
}

// A reporter writes the reports of the handler of a job. While the job is paused, each method
// returns only when it goes on or is stopped.
type reporter struct {
	*server
	id   uint64
	gate *gate

	handed sync.Mutex // guards bytes
	bytes  int        // of artefacts so far
}

func (r *reporter) Progress(done, total int, what string) {
	// If the server is gone the reader notices and ends the worker.
	_ = r.write(frame{kind: typeProgress, id: r.id, body: encodeProgress(Progress{Done: done, Total: total, What: what})})
	r.gate.pass()
}

func (r *reporter) Artefact(name string, b []byte) error {
	r.handed.Lock()
	r.bytes += len(b)
	sum := r.bytes
	r.handed.Unlock()
	if err := CheckArtefact(name, len(b), sum); err != nil {
		return err
	}
	defer r.gate.pass()
	return r.write(frame{kind: typeArtefact, id: r.id, body: encodeArtefact(NewArtefact(name, b))})
}

func (r *reporter) Checkpoint(b []byte) error {
	if err := CheckSize("the checkpoint", len(b)); err != nil {
		return err
	}
	defer r.gate.pass()
	return r.write(frame{kind: typeCheckpoint, id: r.id, body: b})
}
