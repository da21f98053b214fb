package jobs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"tiebreak/internal/idrl"
)

// A worker is a place for a process that does one job at a time. The caller of wait
// owns it until release.
type worker struct {
	urgentOnly bool // as Pool says

	*process         // nil if none was started
	lastID   uint64  // of a job
	level    level   // of the process
	like     string  // of its last job; guarded by the pool's mu
	now      *ticket // the job under way; guarded by the pool's mu

	ended []idrl.SessionID // that the process has not been told of; guarded by the pool's mu
}

// A process is a worker's process.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	says   *lineLog
	frames chan frame    // from the process; closed when there are no more
	quit   chan struct{} // closed when frames are no longer received
	fault  error         // why there are no more frames; set before frames is closed
	exited chan struct{} // closed when the process is gone and cmd has its state

	mu   sync.Mutex    // guards tail
	tail chan struct{} // closed when the frame that was sent last is written, or cannot be; nil before the first
}

// start starts a process with command and env on top of this process's own
// environment. It computes on one core, but has places for more goroutines than it
// needs: where none is free, the runtime takes a place away from a call into C
// that lasts longer than 20 µs, as steps of MuJoCo do, and gives it back late. What
// it writes to standard error goes to log, as lineLog says.
func start(command, env []string, log *slog.Logger) (*process, error) {
	p := &process{
		cmd: exec.Command(command[0], command[1:]...), says: newLineLog(log),
		frames: make(chan frame), quit: make(chan struct{}), exited: make(chan struct{}),
	}
	p.cmd.Env = append(append(os.Environ(), "GOMAXPROCS=4"), env...)
	p.cmd.SysProcAttr = ownGroup()
	p.cmd.WaitDelay = grace
	p.cmd.Stderr = p.says
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	p.stdin = stdin
	go p.receive(bufio.NewReader(stdout))
	p.send(hello()) // if it is gone, receive notices
	return p, nil
}

// receive runs until the process is gone. Nonsense on standard output counts
// as its end.
func (p *process) receive(stdout io.Reader) {
	defer close(p.exited)
	p.fault = p.pass(stdout)
	close(p.frames)
	_ = p.cmd.Process.Kill() // it may have closed its output and live on
	_ = p.cmd.Wait()         // the state is in p.cmd
	p.says.end()
}

// pass hands on frames and returns why there are no more.
func (p *process) pass(stdout io.Reader) error {
	if err := readHello(stdout, true); err != nil {
		return err
	}
	for {
		f, err := readFrame(stdout, true)
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
	close(w.quit)
	_ = w.stdin.Close()
	late := time.AfterFunc(grace, func() { _ = w.cmd.Process.Kill() })
	<-w.exited
	late.Stop()
	w.process = nil
}

// kill ends the process at once and returns how it ended. The error wraps errVersion
// if it is of another version, and else errDied.
func (w *worker) kill(how string) error {
	_ = w.cmd.Process.Kill()
	close(w.quit)
	<-w.exited
	fault, state := w.fault, w.cmd.ProcessState.String()
	_ = w.stdin.Close()
	w.process = nil
	switch {
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
		sent <- writeFrame(p.stdin, f)
	}()
	return sent
}

var errDied = errors.New("the worker died")
