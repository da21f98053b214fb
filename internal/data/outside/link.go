package outside

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tiebreak/internal/base/tail"
	"tiebreak/internal/data/foreign"
	"tiebreak/internal/data/jsonlimit"
)

// Limits of the protocol.
const (
	maxLine    = 12 << 20 // bytes of a line from the environment
	maxMessage = 500      // bytes that are shown of an error of it
)

// graceful is how long a process may take to end by itself.
const graceful = 500 * time.Millisecond

// lastWords is how long it may take until it is known how a process ended whose output is closed.
const lastWords = 3 * time.Second

// A request is a line to the environment.
type request struct {
	ID       int64     `json:"id"`
	Cmd      string    `json:"cmd"`
	Protocol int       `json:"protocol,omitempty"`
	Seed     *uint32   `json:"seed,omitempty"`
	Action   any       `json:"action,omitempty"` // numbers, or the index of a discrete action
	State    []float64 `json:"state,omitempty"`
}

// A reply is a line from it.
type reply struct {
	ID     *int64          `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// A link is a process, or a connection, that speaks the protocol. One goroutine uses it.
type link struct {
	in   io.WriteCloser
	out  *bufio.Reader
	kill func()        // ends reads and writes at once; may be called from any goroutine, and again
	done chan struct{} // closed when the process has ended and is waited for
	how  func() string // how it ended; after done
	tail *tail.Writer
	last int64       // id of the last request
	late atomic.Bool // it was killed because it did not answer
}

// open starts the process, or connects.
func (d *Description) open() (*link, *failure) {
	if d.Connect != "" {
		return d.dial()
	}
	return d.start()
}

func (d *Description) dial() (*link, *failure) {
	network, address, err := d.address()
	if err != nil {
		return nil, failf(CodeStart, "%v", err)
	}
	conn, err := net.DialTimeout(network, address, d.startLimit())
	if err != nil {
		return nil, failf(CodeStart, "nothing answers at %s, start the program first: %v", d.Connect, err)
	}
	l := &link{in: conn, out: bufio.NewReaderSize(conn, 64<<10), done: make(chan struct{}), how: func() string { return "it closed the connection" }, tail: &tail.Writer{}}
	l.kill = sync.OnceFunc(func() {
		conn.Close()
		close(l.done)
	})
	return l, nil
}

func (d *Description) start() (*link, *failure) {
	fail := func(err error) (*link, *failure) {
		return nil, failf(CodeStart, "the command %q cannot be started in %s: %v", strings.Join(d.Command, " "), d.Folder, err)
	}
	cmd, release := exec.Command(d.Command[0], d.Command[1:]...), func() {}
	guard := (*guard)(nil)
	if canLaunch && d.Launcher != "" {
		var err error
		if cmd.Err != nil {
			return fail(cmd.Err)
		}
		if cmd, release, err = d.launched(cmd); err != nil {
			return fail(err)
		}
	} else {
		guard = newGuard()
	}
	cmd.Dir, cmd.Env, cmd.WaitDelay = d.Folder, d.variables(), 2*time.Second
	end := func() {
		release()
		guard.end()
		started(cmd)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		end()
		return fail(err)
	}
	out, childOut, err := os.Pipe() // not StdoutPipe: Wait would close it before all is read
	if err != nil {
		end()
		in.Close()
		return fail(err)
	}
	l := &link{in: in, out: bufio.NewReaderSize(out, 64<<10), done: make(chan struct{}), tail: &tail.Writer{}}
	cmd.Stdout, cmd.Stderr = childOut, l.tail
	cmd.SysProcAttr = inGroup(guard.group(), guard == nil && cmd.ExtraFiles != nil)
	err = cmd.Start()
	childOut.Close()
	if err != nil {
		end()
		in.Close()
		out.Close()
		return fail(err)
	}
	started(cmd)
	l.follow(cmd, out, guard.group(), release, end)
	return l, nil
}

// follow sets how l ends its program cmd, which has been started and writes to out, and how it says that it has ended. group is that of its
// processes, 0 for one of its own; end is called when the program has ended, release before it is made to.
func (l *link) follow(cmd *exec.Cmd, out *os.File, group int, release, end func()) {
	state, group := "", cmp.Or(group, cmd.Process.Pid)
	go func() {
		defer close(l.done)
		_ = cmd.Wait() // what it says is in the state
		killGroup(group)
		end()
		state = cmd.ProcessState.String()
	}()
	l.kill = sync.OnceFunc(func() {
		select {
		case <-l.done: // its number may be that of another process by now
		default:
			l.end(release, group, cmd.ExtraFiles != nil)
		}
		out.Close()
		l.in.Close()
	})
	l.how = func() string { return "it ended: " + state }
}

// end ends the processes of a group, or has their launcher end them, and all that they have started.
func (l *link) end(release func(), group int, launched bool) {
	release()
	if !launched {
		killGroup(group)
		return
	}
	time.AfterFunc(killAfter, func() {
		select {
		case <-l.done:
		default:
			killGroup(group)
		}
	})
}

// close ends the process if it has not ended, and waits for it.
func (l *link) close() {
	l.in.Close() // it may end by itself
	if l.wait(graceful) {
		l.kill()
		return
	}
	l.kill()
	<-l.done
}

// wait reports whether the process ends within d.
func (l *link) wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-l.done:
		return true
	case <-t.C:
		return false
	}
}

// ask sends a request and stores what is answered in result. After a failure the link is of
// no use, and must be closed.
func (l *link) ask(r request, limit time.Duration, result any) *failure {
	l.last++
	r.ID = l.last
	b, err := json.Marshal(r)
	if err != nil {
		return failf(CodeReply, "a request cannot be written: %v", err)
	}
	timer := time.AfterFunc(limit, func() {
		l.late.Store(true)
		l.kill()
	})
	defer timer.Stop()
	if _, err := l.in.Write(append(b, '\n')); err != nil {
		return l.broken(r.Cmd, limit)
	}
	line, err := l.line()
	switch {
	case errors.Is(err, errLong):
		return failf(CodeLine, "its answer to %s has more than %d bytes", r.Cmd, maxLine)
	case err != nil:
		return l.broken(r.Cmd, limit)
	}
	var answer reply
	if err := json.Unmarshal(line, &answer); err != nil {
		return failf(CodeLine, "its answer to %s is not JSON (%v): %s", r.Cmd, err, shown(line))
	}
	return answer.into(result, r)
}

// into stores what is answered to r in result.
func (a *reply) into(result any, r request) *failure {
	switch {
	case a.ID == nil || *a.ID != r.ID:
		return failf(CodeReply, "it answered another request than %s number %d", r.Cmd, r.ID)
	case a.Error != nil:
		return failf(CodeError, "it answered to %s: %s: %s", r.Cmd, shown([]byte(a.Error.Code)), shown([]byte(a.Error.Message)))
	case a.Result == nil:
		return failf(CodeReply, "its answer to %s has neither result nor error", r.Cmd)
	}
	var limits jsonlimit.Limits
	if r.Cmd == "draw" {
		limits = append(jsonlimit.Limits{{}}, foreign.SceneLimits()...)
	}
	err := foreign.Decode(bytes.NewReader(a.Result), limits, result)
	if over := (*jsonlimit.Error)(nil); errors.As(err, &over) {
		return failf(CodeScene, "it draws what cannot be shown: %v", err)
	}
	if err != nil {
		return failf(CodeReply, "its answer to %s cannot be read: %v", r.Cmd, err)
	}
	return nil
}

var errLong = errors.New("a line is too long")

// line reads a line.
func (l *link) line() ([]byte, error) {
	var out []byte
	for {
		part, err := l.out.ReadSlice('\n')
		if len(out)+len(part) > maxLine {
			return nil, errLong
		}
		out = append(out, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return out, err
		}
	}
}

// broken says why nothing can be read or written.
func (l *link) broken(cmd string, limit time.Duration) *failure {
	if l.late.Load() {
		return failf(CodeTimeout, "it did not answer to %s within %v%s", cmd, limit, l.words())
	}
	how := "it closed its output"
	if l.wait(lastWords) {
		how = l.how()
	}
	return failf(CodeExited, "%s instead of answering to %s%s", how, cmd, l.words())
}

// words returns what the process wrote to standard error last, for the end of a message.
func (l *link) words() string {
	if s := l.tail.String(); s != "" {
		return "; it wrote last: " + shown([]byte(s[max(0, len(s)-maxMessage):]))
	}
	return ""
}

// shown returns the beginning of what an environment wrote, for a message.
func shown(b []byte) string {
	s := strings.ToValidUTF8(string(b[:min(len(b), maxMessage)]), "?")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s))
}
