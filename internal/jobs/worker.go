package jobs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"time"
)

// A worker is a process that does one job at a time. Whoever took it from the
// pool owns it. The zero worker has no process.
type worker struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	replies chan reply    // from the process; closed when there are no more
	quit    chan struct{} // closed when nobody receives replies any more
	exited  chan struct{} // closed when the process is gone and cmd has its state
	lastID  int64
}

// start starts the process with command and env on top of this process's own
// environment. It computes on one core, but has places for more goroutines than it
// needs: where none is free, the runtime takes a place away from a call into C
// that lasts longer than 20 µs, as steps of MuJoCo do, and gives it back late. What
// it writes to standard error goes to log, line by line.
func (w *worker) start(command, env []string, log *slog.Logger) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(append(os.Environ(), "GOMAXPROCS=4"), env...)
	cmd.SysProcAttr = ownGroup()
	cmd.WaitDelay = grace
	cmd.Stderr = &lineLog{log: log}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	*w = worker{
		cmd: cmd, stdin: stdin, lastID: w.lastID,
		replies: make(chan reply), quit: make(chan struct{}), exited: make(chan struct{}),
	}
	go w.receive(bufio.NewReader(stdout))
	return nil
}

// receive runs until the process is gone. Nonsense on standard output counts
// as its end.
func (w *worker) receive(stdout *bufio.Reader) {
	defer close(w.exited)
	w.pass(stdout)
	close(w.replies)
	_ = w.cmd.Process.Kill() // it may have closed its output and live on
	_ = w.cmd.Wait()         // the state is in w.cmd
}

func (w *worker) pass(stdout *bufio.Reader) {
	for {
		var r reply
		if err := readLine(stdout, &r); err != nil {
			return
		}
		select {
		case w.replies <- r:
		case <-w.quit:
			return
		}
	}
}

// alive reports whether there is a process that may take a job.
func (w *worker) alive() bool {
	if w.cmd == nil {
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
	if w.cmd == nil {
		return
	}
	close(w.quit)
	_ = w.stdin.Close()
	late := time.AfterFunc(grace, func() { _ = w.cmd.Process.Kill() })
	<-w.exited
	late.Stop()
	w.cmd = nil
}

// kill ends the process at once and returns how it ended.
func (w *worker) kill() string {
	_ = w.cmd.Process.Kill()
	close(w.quit)
	<-w.exited
	state := w.cmd.ProcessState.String()
	_ = w.stdin.Close()
	w.cmd = nil
	return state
}

// send writes a line to the process without waiting for it, since one that has
// stopped reading would block the writer. The channel receives the result.
func (w *worker) send(r request) <-chan error {
	sent := make(chan error, 1)
	stdin := w.stdin
	go func() { sent <- writeLine(stdin, r) }() // ends when the process reads or is gone
	return sent
}

// A lineLog writes lines to a log. It is used by one goroutine.
type lineLog struct {
	log  *slog.Logger
	rest []byte
}

const maxLogLine = 8 << 10

func (l *lineLog) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok && len(l.rest) < maxLogLine {
			return len(b), nil
		}
		l.log.Warn("worker says", "line", string(line))
		l.rest = rest
	}
}

var errDied = errors.New("the worker died")
