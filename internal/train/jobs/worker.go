package jobs

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"tiebreak/internal/idrl"
)

// A worker is a place for a process that does one job at a time. The caller of wait
// owns it until release.
type worker struct {
	urgentOnly bool   // as Pool says
	place      *Place // that it was offered as; nil for one of this machine

	*process         // nil if none was started
	lastID   uint64  // of a job
	level    level   // of the process
	like     string  // of its last job; guarded by the pool's mu
	now      *ticket // the job under way; guarded by the pool's mu

	joined  time.Time // when it was added; zero for one of this machine
	leaving bool      // it leaves when it has no job; guarded by the pool's mu
	did     int       // jobs; guarded by the pool's mu

	ended []idrl.SessionID // that the process has not been told of; guarded by the pool's mu
}

// A process is a worker's process, here or elsewhere.
type process struct {
	to     connection
	frames chan frame    // from the process; closed when there are no more
	quit   chan struct{} // closed when frames are no longer received
	once   sync.Once     // guards the closing of quit
	fault  error         // why there are no more frames; set before frames is closed
	state  string        // how the process ended; set before exited is closed
	exited chan struct{} // closed when the process is gone

	mu   sync.Mutex    // guards tail
	tail chan struct{} // closed when the frame that was sent last is written, or cannot be; nil before the first
}

// newProcess greets the process that a connection leads to, and receives what it says.
func newProcess(to connection) *process {
	p := &process{to: to, frames: make(chan frame), quit: make(chan struct{}), exited: make(chan struct{})}
	go p.receive()
	p.send(hello()) // if it is gone, receive notices
	return p
}

// receive runs until the process is gone. Bytes that are no frames count as its end.
func (p *process) receive() {
	defer close(p.exited)
	p.fault = p.pass()
	close(p.frames)
	p.to.kill() // it may have closed its output and live on
	p.state = p.to.gone()
}

// pass hands on frames and returns why there are no more.
func (p *process) pass() error {
	first, err := p.to.read()
	if err != nil {
		return err
	}
	if err := checkHello(first); err != nil {
		return err
	}
	for {
		f, err := p.to.read()
		if err != nil {
			return err
		}
		select {
		case p.frames <- f:
		case <-p.quit:
			return nil
		}
	}
}

// ignore has receive drop what the process still says, and not wait for a reader.
func (p *process) ignore() { p.once.Do(func() { close(p.quit) }) }

// abandon ends the process, and receive with it.
func (p *process) abandon() {
	p.to.kill()
	p.ignore()
}

// alive reports whether there is a process that may take a job.
func (w *worker) alive() bool {
	if w.process == nil {
		return false
	}
	select {
	case <-w.exited:
		return false
	default:
		return true
	}
}

// stop asks the process to end by closing its input, kills it if it does not
// within a few seconds, and waits until it is gone.
func (w *worker) stop() {
	if w.process == nil {
		return
	}
	w.ignore()
	w.to.close()
	late := time.AfterFunc(grace, w.to.kill)
	<-w.exited
	late.Stop()
	w.process = nil
}

// kill ends the process at once and returns how it ended. The error wraps errVersion
// if it is of another version, and else errDied.
func (w *worker) kill(how string) error {
	w.abandon()
	<-w.exited
	fault, state := w.fault, w.state
	w.to.close()
	w.process = nil
	switch {
	case errors.Is(fault, ErrWorkerDied):
		return fmt.Errorf("%w: %s, %s (%w)", errDied, w.place.Name, how, fault)
	case w.place != nil:
		return fmt.Errorf("%w: %s, %s (%v)", errLost, w.place.Name, how, fault) //nolint:errorlint // that a link has ended is no end of input for who asks
	case errors.Is(fault, errVersion):
		return fault
	case fault != nil && !errors.Is(fault, io.EOF):
		return fmt.Errorf("%w: %s (%s; %w)", errDied, how, state, fault)
	default:
		return fmt.Errorf("%w: %s (%s)", errDied, how, state)
	}
}

// send writes a frame to the process without waiting for it, since one that has
// stopped reading would block the writer. The channel receives the result.
func (p *process) send(f frame) <-chan error {
	sent := make(chan error, 1)
	written := make(chan struct{})
	p.mu.Lock()
	before := p.tail
	p.tail = written
	p.mu.Unlock()
	go func() { // ends when the process reads or is gone
		defer close(written)
		if before != nil {
			<-before // frames keep their order
		}
		sent <- p.to.write(f)
	}()
	return sent
}

var errDied = errors.New("the worker died")
