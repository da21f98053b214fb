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

// A connection leads to the process of a worker.
type connection interface {
	// read returns the next frame of the worker; io.EOF when there are no more.
	read() (frame, error)

	// write may be called beside read, by one goroutine at a time.
	write(f frame) error

	// close asks the process to end by itself, and kill ends it at once. Both may be called again.
	close()
	kill()

	// gone waits until the process has ended after kill, or by itself, and says how it ended. It is called once.
	gone() string

	// pid returns the id of a process of this machine; ok is false for one elsewhere.
	pid() (id int, ok bool)
}

// pipes lead to a process of this machine.
type pipes struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	says   *lineLog
}

// startProcess starts a process with command and env on top of this process's own
// environment. It computes on one core, but has places for more goroutines than it
// needs: where none is free, the runtime takes a place away from a call into C
// that lasts longer than 20 µs, as steps of MuJoCo do, and gives it back late. What
// it writes to standard error goes to log, as lineLog says.
func startProcess(command, env []string, log *slog.Logger) (*pipes, error) {
	p := &pipes{cmd: exec.Command(command[0], command[1:]...), says: newLineLog(log)}
	p.cmd.Env = append(append(os.Environ(), "GOMAXPROCS=4"), env...)
	p.cmd.SysProcAttr = ownGroup()
	p.cmd.WaitDelay = grace
	p.cmd.Stderr = p.says
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	p.stdout = bufio.NewReader(stdout)
	return p, nil
}

func (p *pipes) read() (frame, error) { return readFrame(p.stdout, true) }
func (p *pipes) write(f frame) error  { return writeFrame(p.stdin, f) }
func (p *pipes) close()               { _ = p.stdin.Close() }
func (p *pipes) kill()                { _ = p.cmd.Process.Kill() } // it may be gone already
func (p *pipes) pid() (int, bool)     { return p.cmd.Process.Pid, true }

func (p *pipes) gone() string {
	_ = p.cmd.Wait() // the state is in p.cmd
	p.says.end()
	return p.cmd.ProcessState.String()
}

// A Link carries frames, each as one message of at most MaxFrame bytes, between a Pool and a worker on another
// machine. What is written arrives in order, or the link ends.
type Link interface {
	// Read returns the next message of the worker. It returns io.EOF when the worker has left, an error that wraps
	// ErrWorkerDied when its process has died, and another one when the link has ended in another way. It is called by one goroutine.
	Read() ([]byte, error)

	// Write hands over a message, and does not wait until the worker has it. It is called by one goroutine at a time.
	Write(message []byte) error

	// Close ends the link on both sides, and Read with it. It may be called again, from any goroutine.
	Close() error
}

// MaxFrame is the length of the longest message of a Link, in bytes.
const MaxFrame = headerSize + 2*maxBlob + slack

// linked leads to a process elsewhere.
type linked struct{ Link }

func (l linked) read() (frame, error) {
	m, err := l.Read()
	if err != nil {
		return frame{}, err
	}
	return decodeFrame(m, true)
}

func (l linked) write(f frame) error {
	m, err := encodeFrame(f)
	if err != nil {
		return err
	}
	return l.Write(m)
}

func (l linked) close()           { _ = l.Close() }
func (l linked) kill()            { _ = l.Close() }
func (l linked) gone() string     { return "the link has ended" }
func (l linked) pid() (int, bool) { return 0, false }

// encodeFrame returns the message of a frame.
func encodeFrame(f frame) ([]byte, error) {
	var m bytes.Buffer
	m.Grow(headerSize + len(f.body))
	err := writeFrame(&m, f)
	return m.Bytes(), err
}

// decodeFrame returns the one frame that a message holds.
func decodeFrame(message []byte, fromWorker bool) (frame, error) {
	in := bytes.NewReader(message)
	f, err := readFrame(in, fromWorker)
	if err == nil && in.Len() > 0 {
		err = fmt.Errorf("%d bytes follow a frame", in.Len())
	}
	if err != nil {
		return frame{}, noEOF(err)
	}
	return f, nil
}

// A Process is a worker's process at the other end of a Link, for programs that carry its frames.
type Process struct{ pipes *pipes }

// StartProcess starts a process with command, and env on top of this process's own environment. What it writes to standard
// error goes to log. The caller must call End.
func StartProcess(command, env []string, log *slog.Logger) (*Process, error) {
	p, err := startProcess(command, env, log)
	if err != nil {
		return nil, err
	}
	return &Process{p}, nil
}

// Read returns the next frame of the process as a message, and io.EOF when there are no more.
func (p *Process) Read() ([]byte, error) {
	f, err := readFrame(p.pipes.stdout, true)
	if err != nil {
		return nil, err
	}
	return encodeFrame(f)
}

// Write writes a message to the process. It returns an error if that is no frame that a server may send.
func (p *Process) Write(message []byte) error {
	f, err := decodeFrame(message, false)
	if err != nil {
		return err
	}
	return p.pipes.write(f)
}

// Lower gives the process the least priority: it runs only where no other process wants to.
func (p *Process) Lower() error { return lower(p.pipes.cmd.Process.Pid, idling) }

// End asks the process to end, kills it if it does not within a few seconds, and returns how it ended. Read
// must have returned an error, or be called until it does.
func (p *Process) End() string {
	p.pipes.close()
	late := time.AfterFunc(grace, p.pipes.kill)
	defer late.Stop()
	return p.pipes.gone()
}

// ErrWorkerDied says that a process elsewhere has died. Its job may be the cause.
var ErrWorkerDied = errors.New("its process has died")

// errLost says that a link has ended. The job is not the cause.
var errLost = fmt.Errorf("%w: the link to it is lost", errDied)
