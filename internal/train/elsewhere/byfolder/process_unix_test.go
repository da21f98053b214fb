//go:build unix

package byfolder_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere/byfolder"
)

func fifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// Variables of the environment of a process that this test program starts.
const (
	roleVar = "TIEBREAK_BYFOLDER_ROLE" // "worker" or "reader"
	dirVar  = "TIEBREAK_BYFOLDER_DIR"
	lifeVar = "TIEBREAK_BYFOLDER_LIFE"
)

// each is how many messages go each way.
const each = 2000

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(roleVar) {
	case "":
		os.Exit(m.Run())
	case "worker":
		err = work(os.Getenv(dirVar), os.Getenv(lifeVar))
	case "reader":
		err = openAsReader(os.Getenv(dirVar))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// work sends 2,000 messages, and says of each that it receives what it was.
func work(dir, life string) error {
	c, err := byfolder.Open(byfolder.Config{Dir: dir, Poll: quick})
	if err != nil {
		return err
	}
	ctx := context.Background()
	down, err := c.Receive(ctx, "to.w1.>")
	if err != nil {
		return err
	}
	if err := c.Send(ctx, "from.w1.s.got", []byte(life+" -1")); err != nil {
		return err
	}
	for k := range each {
		if err := c.Send(ctx, "from.w1.s.up", fmt.Appendf(nil, "%s %d", life, k)); err != nil {
			return err
		}
		select {
		case m := <-down:
			err = c.Send(ctx, "from.w1.s.got", fmt.Appendf(nil, "%s %s", life, m.Data))
		default:
		}
		if err != nil {
			return err
		}
	}
	for m := range down {
		if err := c.Send(ctx, "from.w1.s.got", fmt.Appendf(nil, "%s %s", life, m.Data)); err != nil {
			return err
		}
	}
	return nil
}

func startWorker(t *testing.T, dir string, life int) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"=worker", dirVar+"="+dir, lifeVar+"="+fmt.Sprint(life))
	cmd.Stderr = os.Stderr
	must.Do(t, cmd.Start())
	return cmd
}

// A worker is killed in the midst of 2,000 messages each way, and started again under the same subjects. What it and
// the server receive is in order and comes once, and nothing is lost of what is sent to and by the second.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	server := open(t, byfolder.Config{Dir: dir, Poll: quick})
	up := receive(t, server, "from.*.s.>")
	worker := startWorker(t, dir, 1)
	defer func() { _, _ = worker.Process.Kill(), worker.Wait() }()
	sentAll := make(chan error, 2)
	send := func(from int) {
		for k := range each {
			if err := server.Send(t.Context(), "to.w1.s.link", fmt.Append(nil, from+k)); err != nil {
				sentAll <- err
				return
			}
		}
		sentAll <- nil
	}
	last := map[string]int{"from.w1.s.up": -1, "from.w1.s.got": -2}
	life, count := 1, 0
	for last["from.w1.s.up"] < each-1 || last["from.w1.s.got"] < 2*each-1 || life < 2 {
		m := waittest.For(t, up, fmt.Sprintf("the messages of worker %d after %v", life, last))
		var of, k int
		if _, err := fmt.Sscanf(string(m.Data), "%d %d", &of, &k); err != nil {
			t.Fatalf("received %q: %v", m.Data, err)
		}
		switch {
		case of == life && m.Subject == "from.w1.s.got" && k == -1 && last[m.Subject] == -2:
			go send((life - 1) * each)
		case of < life && k == last[fmt.Sprint("first ", m.Subject)]+1: // of the worker that was killed
			last[fmt.Sprint("first ", m.Subject)] = k
			continue
		case of == life && life == 2 && m.Subject == "from.w1.s.got" && k > last[m.Subject] && last[m.Subject] < each: // what was still sent to the first
		case of != life || k != last[m.Subject]+1:
			t.Fatalf("received %q under %s after %d of worker %d", m.Data, m.Subject, last[m.Subject], life)
		}
		last[m.Subject] = k
		if count++; count == each && life == 1 {
			must.Do(t, worker.Process.Kill())
			_ = worker.Wait() // killed
			must.Do(t, waittest.For(t, sentAll, "the messages to the first worker"))
			for _, subject := range []string{"from.w1.s.up", "from.w1.s.got"} {
				last["first "+subject] = last[subject]
			}
			last["from.w1.s.up"], last["from.w1.s.got"] = -1, -2
			life = 2
			worker = startWorker(t, dir, life)
		}
	}
	must.Do(t, waittest.For(t, sentAll, "the messages to the second worker"))
}

// openAsReader opens a folder without the right to write there.
func openAsReader(dir string) error {
	if os.Getuid() == 0 { // who may write everywhere
		if err := syscall.Setuid(65534); err != nil {
			return err
		}
	}
	if _, err := byfolder.Open(byfolder.Config{Dir: dir}); idrl.KindOf(err) != idrl.Forbidden {
		return fmt.Errorf("opened with %w", err)
	}
	return nil
}

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	for _, empty := range []bool{true, false} {
		if !empty {
			must.Do(t, os.Chmod(dir, 0o700))
			c := must.Get(byfolder.Open(byfolder.Config{Dir: dir}))(t)
			must.Do(t, c.Close())
		}
		must.Do(t, os.Chmod(filepath.Dir(dir), 0o755)) //nolint:gosec // for the other user
		must.Do(t, os.Chmod(dir, 0o555))               //nolint:gosec // for the other user
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), roleVar+"=reader", dirVar+"="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("empty %v: %v: %s", empty, err, out)
		}
		must.Do(t, os.Chmod(dir, 0o700))
	}
}
