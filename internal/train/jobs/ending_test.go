package jobs

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/check/must"
)

// talker is a Link to a worker that says something without having a job.
type talker struct {
	says   chan []byte
	closed context.Context
	close  context.CancelFunc
}

func newTalker(t *testing.T) talker {
	l := talker{says: make(chan []byte, 2)}
	l.closed, l.close = context.WithCancel(context.Background())
	for _, f := range []frame{hello(), {kind: typeAlive}} {
		l.says <- must.Get(encodeFrame(f))(t)
	}
	return l
}

func (l talker) Read() ([]byte, error) {
	select {
	case m := <-l.says:
		return m, nil
	case <-l.closed.Done():
		return nil, io.EOF
	}
}

func (l talker) Write([]byte) error { return l.closed.Err() }
func (l talker) Close() error       { l.close(); return nil }

// A worker elsewhere leaves the pool also if it has sent something that no job has read.
func TestTalkativeWorkerLeaves(t *testing.T) {
	for name, leave := range map[string]func(p *Pool, l talker, stop func()){
		"told to":        func(p *Pool, _ talker, _ func()) { p.Leave("w") },
		"context":        func(_ *Pool, _ talker, stop func()) { stop() },
		"pool is closed": func(p *Pool, _ talker, _ func()) { _ = p.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := must.Get(NewPool(Config{Store: &Rows{}, Command: []string{"none"}, Workers: -1}))(t)
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				l, left := newTalker(t), make(chan struct{})
				go func() { defer close(left); p.Join(ctx, l, Place{Name: "w"}) }()
				synctest.Wait()
				leave(p, l, stop)
				synctest.Wait()
				select {
				case <-left:
				default:
					t.Error("the worker has not left")
				}
				must.Do(t, p.Close())
			})
		})
	}
}

// stubborn is a connection to a process that ends only when it is killed.
type stubborn struct{ killed chan struct{} }

func (s stubborn) read() (frame, error) { <-s.killed; return frame{}, io.EOF }
func (s stubborn) write(frame) error    { return errors.New("it reads nothing") }
func (s stubborn) close()               {}
func (s stubborn) kill() {
	select {
	case <-s.killed:
	default:
		close(s.killed)
	}
}
func (s stubborn) gone() string     { return "killed" }
func (s stubborn) pid() (int, bool) { return 0, false }

// Close waits for all processes at the same time, and the pool answers meanwhile.
func TestCloseStopsWorkersTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must.Get(NewPool(Config{Store: &Rows{}, Command: []string{"none"}, Workers: 4}))(t)
		for _, w := range p.workers {
			w.process = newProcess(stubborn{make(chan struct{})})
		}
		began, closed := time.Now(), make(chan time.Duration)
		go func() { _ = p.Close(); closed <- time.Since(began) }()
		synctest.Wait()
		asked := make(chan struct{})
		go func() { p.Waiting(); close(asked) }()
		if took := <-closed; took != grace {
			t.Errorf("Close takes %v, want %v", took, grace)
		}
		<-asked
	})
}
