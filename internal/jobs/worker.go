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
)

// A worker is a place for a process that does one job at a time. Whoever took it
// from the pool owns it. The zero worker has no process.
type worker struct {
	firstOnly bool // for jobs based on no answer, as Pool says

	*process         // nil if none was started
	lastID   int64   // of a job
	lowered  bool    // the process has done a job that lowers its priority
	now      *ticket // the job under way; guarded by the pool's mu
}

// A process is a worker's process.
type process struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	says    *lineLog
	replies chan reply    // from the process; closed when there are no more
	quit    chan struct{} // closed when replies are no longer received
	fault   error         // why there are no more replies; set before replies is closed
	exited  chan struct{} // closed when the process is gone and cmd has its state

	sending sync.Mutex // held while a message is written
}

// start starts a process with command and env on top of this process's own
// environment. It computes on one core, but has places for more goroutines than it
// needs: where none is free, the runtime takes a place away from a call into C
// that lasts longer than 20 µs, as steps of MuJoCo do, and gives it back late. What
// it writes to standard error goes to log, as lineLog says.
func start(command, env []string, log *slog.Logger) (*process, error) {
	p := &process{
		cmd: exec.Command(command[0], command[1:]...), says: newLineLog(log),
		replies: make(chan reply), quit: make(chan struct{}), exited: make(chan struct{}),
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
	go p.receive(newReader(stdout))
	return p, nil
}

// receive runs until the process is gone. Nonsense on standard output counts
// as its end.
func (p *process) receive(stdout *bufio.Reader) {
	defer close(p.exited)
	p.fault = p.pass(stdout)
	close(p.replies)
	_ = p.cmd.Process.Kill() // it may have closed its output and live on
	_ = p.cmd.Wait()         // the state is in p.cmd
	p.says.end()
}

// pass hands on replies and returns why there are no more.
func (p *process) pass(stdout *bufio.Reader) (err error) {
	for {
		var r reply
		if err := readHeader(stdout, &r); err != nil {
			return err
		}
		if r.Size != nil {
			if r.result, err = readBody(stdout, *r.Size); err != nil {
				return err
			}
		}
		select {
		case p.replies <- r:
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

// kill ends the process at once and returns how it ended.
func (w *worker) kill() string {
	_ = w.cmd.Process.Kill()
	close(w.quit)
	<-w.exited
	how := w.cmd.ProcessState.String()
	if w.fault != nil && !errors.Is(w.fault, io.EOF) {
		how += "; " + w.fault.Error()
	}
	_ = w.stdin.Close()
	w.process = nil
	return how
}

// send writes a message to the process without waiting for it, since one that has
// stopped reading would block the writer. The channel receives the result.
func (p *process) send(r request, payload []byte) <-chan error {
	sent := make(chan error, 1)
	go func() { // ends when the process reads or is gone
		p.sending.Lock()
		defer p.sending.Unlock()
		sent <- writeMessage(p.stdin, r, payload)
	}()
	return sent
}

var errDied = errors.New("the worker died")
