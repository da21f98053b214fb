package jobs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"tiebreak/internal/idrl"
)

// beatEvery is how often a worker gives a sign of life.
const beatEvery = time.Second

// grace is how long a job that was told to stop may take to do so.
const grace = 3 * time.Second

// A Handler does a job: it turns a payload into a result. It returns soon after
// ctx is done. A panic ends the worker, and the pool starts another.
type Handler func(ctx context.Context, payload []byte, progress idrl.Progress) ([]byte, error)

// Serve is the worker's side: it reads jobs from in, has handle do one at a
// time, and writes signs of life, progress and results to out, until in ends
// (the server has closed it or died) or ctx is done. Then it stops the job
// under way, waits for it for a few seconds at most, and returns; the caller
// should end the process. It returns nil if in ended between two messages. Its
// reading goroutine ends with in.
func Serve(ctx context.Context, in io.Reader, out io.Writer, handle Handler) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &server{handle: handle, out: out, messages: make(chan message), finished: make(chan reply, 1)}
	ended := make(chan error, 1)
	go func() { ended <- s.read(ctx, newReader(in)) }()

	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	for {
		var err error
		select {
		case m := <-s.messages:
			err = s.take(ctx, m)
		case end := <-s.finished:
			s.cancel = nil // before the server hears of it and sends the next
			err = s.write(end)
		case <-beat.C:
			if s.cancel != nil {
				err = s.write(reply{ID: s.current})
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
	handle   Handler
	messages chan message
	finished chan reply // the end of each job

	current int64              // id of the last job
	cancel  context.CancelFunc // of the job under way; nil if there is none

	mu  sync.Mutex // guards out
	out io.Writer
}

// A message is a request with its payload.
type message struct {
	request
	payload []byte
}

func (s *server) read(ctx context.Context, in *bufio.Reader) (err error) {
	for {
		var m message
		if err := readHeader(in, &m.request); err != nil {
			return err
		}
		if m.Size != nil {
			if m.payload, err = readBody(in, *m.Size); err != nil {
				return err
			}
		}
		select {
		case s.messages <- m:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take starts the job of m, or stops the one under way.
func (s *server) take(ctx context.Context, m message) error {
	if m.Cancel {
		if s.cancel != nil && m.ID == s.current {
			s.cancel()
		}
		return nil
	}
	if s.cancel != nil {
		return errors.New("a job arrived while another is under way")
	}
	ctx, s.cancel = context.WithCancel(ctx)
	s.current = m.ID
	cancel := s.cancel
	go func() {
		defer cancel()
		s.finished <- s.work(ctx, m)
	}()
	return nil
}

// work does the job of m and returns its last reply.
func (s *server) work(ctx context.Context, m message) reply {
	result, err := s.handle(ctx, m.payload, func(done, total int, what string) {
		// If the server is gone the reader notices and ends the worker.
		_ = s.write(reply{ID: m.ID, Progress: &progress{Done: done, Total: total, What: what}})
	})
	if err == nil && len(result) > maxBody {
		err = fmt.Errorf("the result has %d bytes; at most %d MiB can be handed over", len(result), maxBody>>20)
	}
	if err != nil {
		msg := err.Error()
		msg = strings.ToValidUTF8(msg[:min(len(msg), maxText)], "")
		return reply{ID: m.ID, Error: &msg, Kind: uint8(idrl.KindOf(err))}
	}
	size := len(result)
	return reply{ID: m.ID, Size: &size, result: result}
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

func (s *server) write(r reply) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return writeMessage(s.out, r, r.result)
}
