package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/check/must"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/loadtest"
	"tiebreak/store"
	"tiebreak/web/client"
)

// faultsEnv is the variable that multiplies how often the tests of faults have a fault happen ("task test:faults").
const faultsEnv = "TIEBREAK_FAULTS"

// faults returns n, or more of them where many are asked for.
func faults(t *testing.T, n int) int {
	t.Helper()
	text := os.Getenv(faultsEnv)
	if text == "" {
		return n
	}
	times, err := strconv.Atoi(text)
	if err != nil || times < 1 {
		t.Fatalf("%s is %q, want a number", faultsEnv, text)
	}
	return n * times
}

// A crowd is sixteen annotators of a server that is a process of its own, and is killed.
type crowd struct {
	t          *testing.T
	data, addr string
	front      string                         // the address in the annotators' link, if it is not addr
	run        func(args ...string) *exec.Cmd // the server; default: the program
	id         idrl.SessionID
	link       string // of annotators
	server     *process
	all        []*loadtest.Labeller
	recorded   []idrl.AnswerID // what the annotators take for recorded, besides what was acknowledged
}

func newCrowd(t *testing.T, n int, data string) *crowd {
	t.Helper()
	return (&crowd{t: t, data: data, addr: freeAddr(t)}).join(n)
}

// join starts the server and has n annotators join and answer once.
func (c *crowd) join(n int) *crowd {
	t := c.t
	t.Helper()
	c.all = make([]*loadtest.Labeller, n)
	if c.run == nil {
		c.run = func(args ...string) *exec.Cmd { return exec.Command(program(t), args...) }
	}
	id, link := newLink(t, c.data, cmp.Or(c.front, c.addr), "--env", "gridworld", "--kind", "clip_comparison", "--train-every", "1000000")
	c.id, c.link = idrl.SessionID(id), link
	c.start()
	c.each(func(k int) error {
		conn, err := client.Dial(t.Context(), link)
		if err != nil {
			return err
		}
		t.Cleanup(func() { _ = conn.Close() })
		c.all[k] = loadtest.New(conn, uint64(k))
		return c.all[k].Label(1)
	})
	return c
}

func (c *crowd) start() {
	c.t.Helper()
	c.server = startCommand(c.t, c.run("serve", "--data", c.data, "--addr", c.addr))
}

// each calls f for every annotator at the same time. Those that fail end the test.
func (c *crowd) each(f func(k int) error) {
	c.t.Helper()
	if c.try(f); c.t.Failed() {
		c.t.Fatalf("the server says\n%s", c.server.out)
	}
}

// try is each that goes on, also outside the goroutine of the test.
func (c *crowd) try(f func(k int) error) {
	c.t.Helper()
	var wg sync.WaitGroup
	for k := range c.all {
		wg.Go(func() {
			if err := f(k); err != nil {
				c.t.Errorf("annotator %d: %v", k, err)
			}
		})
	}
	wg.Wait()
}

// killed has all answer until the server is killed after a time.
func (c *crowd) killed(after time.Duration) {
	c.t.Helper()
	kill := time.AfterFunc(after, func() { _ = c.server.cmd.Process.Kill() })
	defer kill.Stop()
	c.each(func(k int) error {
		for {
			if err := c.all[k].GoOn(len(c.all[k].Acked) + 1); idrl.KindOf(err) == idrl.Invalid {
				return err
			} else if err != nil {
				return nil //nolint:nilerr // the socket broke, as is meant to happen
			}
		}
	})
	<-c.server.done
}

// back starts the server again, and has all connect to it and give some answers.
func (c *crowd) back(answers int) {
	c.t.Helper()
	c.start()
	c.each(func(k int) error {
		if err := c.reconnect(k); err != nil {
			return err
		}
		if err := c.all[k].Label(len(c.all[k].Acked) + answers); err != nil {
			return fmt.Errorf("after the server was started again: %w", err)
		}
		return nil
	})
}

// reconnect has an annotator connect again, as its page does until the server replies. A server that is up takes the first try: more are
// needed only while it has no room, or where something between the two is cut.
func (c *crowd) reconnect(k int) error {
	began := time.Now()
	for tries := 1; ; tries++ {
		err := c.all[k].Conn.Reconnect(c.t.Context())
		if idrl.KindOf(err) != idrl.Unavailable {
			return err
		}
		if since := time.Since(began); since > waittest.Limit {
			return fmt.Errorf("no socket to the server that was started again, in %d tries within %v: %w", tries, since.Round(time.Second), err)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// trust has all take for recorded what they have sent.
func (c *crowd) trust() {
	for _, l := range c.all {
		if id := l.Pending(); id != "" {
			c.recorded = append(c.recorded, id)
			l.Forget()
		}
	}
}

// check stops the server and returns how many answers that somebody takes for recorded are not, and how many rows are there twice.
func (c *crowd) check() (acknowledged, lost, twice int) {
	c.t.Helper()
	c.server.kill()
	taken := slices.Clone(c.recorded)
	for _, l := range c.all {
		for id := range l.Acked {
			taken = append(taken, id)
		}
	}
	lost, twice = lossesOf(taken, c.log())
	return len(taken), lost, twice
}

// log returns the rows that are recorded, also while the server runs.
func (c *crowd) log() []idrl.Answer {
	c.t.Helper()
	db, err := store.OpenReadOnly(context.WithoutCancel(c.t.Context()), c.data)
	if err != nil {
		c.t.Fatal(err)
	}
	defer db.Close()
	rec, err := db.Load(c.t.Context(), c.id)
	if err != nil {
		c.t.Fatal(err)
	}
	return rec.Log
}

// lossesOf returns how many answers that somebody takes for recorded are no rows, and how many rows are there twice: with the same
// number, or for the same question.
func lossesOf(taken []idrl.AnswerID, log []idrl.Answer) (lost, twice int) {
	rows, questions := map[idrl.AnswerID]int{}, map[idrl.AssignmentID]int{}
	for _, a := range log {
		rows[a.ID]++
		if questions[a.Assignment]++; rows[a.ID] > 1 || questions[a.Assignment] > 1 {
			twice++
		}
	}
	for _, id := range taken {
		if rows[id] == 0 {
			lost++
		}
	}
	return lost, twice
}

// TestFaultKill: the server is killed at random moments while sixteen annotators answer, and started again. No acknowledged
// answer is lost, and none is there twice.
func TestFaultKill(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 16, t.TempDir())
	moments, kills, began := rng.New(3, "moments of kills", 0), faults(t, 4), time.Now()
	for k := range kills {
		c.killed(time.Duration(moments.Int64N(int64(400 * time.Millisecond))))
		if c.back(1); (k+1)%100 != 0 && k+1 < kills {
			continue
		}
		n, lost, twice := c.check()
		t.Logf("%d kills, %d acknowledged answers, %d lost, %d twice, after %v", k+1, n, lost, twice, time.Since(began).Round(time.Second))
		if lost != 0 || twice != 0 || n < 16*(k+2) {
			t.Errorf("%d acknowledged, %d lost, %d twice", n, lost, twice)
		}
		c.back(1)
	}
}

// freeze stops the process, and waits until each of its threads has stopped: on a busy machine it goes on for a moment.
func (p *process) freeze(t *testing.T) {
	t.Helper()
	must.Do(t, p.cmd.Process.Signal(syscall.SIGSTOP))
	waittest.Until(t, "all threads to stop", func() bool {
		stats := must.Get(filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid)))(t)
		return len(stats) > 0 && !slices.ContainsFunc(stats, func(path string) bool {
			stat, err := os.ReadFile(path)
			return err == nil && !strings.HasPrefix(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " T")
		})
	})
}

// TestFaultKillControl: annotators that take for recorded what they have sent lose answers when the server is killed, and the
// check of TestFaultKill finds that.
func TestFaultKillControl(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 4, t.TempDir())
	for wait := time.Second; len(c.recorded) == 0 && wait < time.Minute; wait *= 2 { // until one has sent in time, on a slow machine
		c.server.freeze(t)
		c.killed(wait) // while it is frozen: it reads nothing of what is sent
		c.trust()
		c.back(1)
	}
	if n, lost, twice := c.check(); lost == 0 || lost > len(c.recorded) || twice != 0 {
		t.Errorf("%d taken for recorded, %d of them without acknowledgement, %d lost, %d twice: the check finds no loss", n, len(c.recorded), lost, twice)
	}
}
