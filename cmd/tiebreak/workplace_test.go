package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/loadtest"
	"tiebreak/store"
	"tiebreak/web/client"
)

// startWorker starts a worker of the real program, and waits until it offers itself.
func startWorker(t *testing.T, args ...string) *process {
	t.Helper()
	cmd := exec.Command(program(t), append([]string{"worker", "--slots", "1"}, args...)...) //nolint:gosec // the program under test
	p := &process{cmd: cmd, out: &syncBuffer{}, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.out, p.out
	must.Do(t, cmd.Start())
	go func() {
		defer close(p.done)
		_ = cmd.Wait()
	}()
	t.Cleanup(p.kill)
	return p
}

// A farStudy is a session that is labelled in lockstep on a server of its own, which does no trainings itself.
type farStudy struct {
	data    string
	id      idrl.SessionID
	serve   []string
	carrier []string // flags of the workers
	server  *process
	labels  *loadtest.Labeller
}

// newFarStudy starts a server whose jobs are carried by what serve says, with the session of study in kill_test.go.
func newFarStudy(t *testing.T, data string, carrier []string, serve ...string) *farStudy {
	t.Helper()
	addr := freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "gridworld", "--kind", "clip_comparison", "--train-every", "3", "--adopt-after", "2", "--seed", "11")
	s := &farStudy{data: data, id: idrl.SessionID(id), carrier: carrier}
	s.serve = append([]string{"serve", "--data", data, "--addr", addr, "--trainings-here", "-1"}, serve...)
	s.server = startServer(t, s.serve...)
	conn := must.Get(client.Dial(t.Context(), link))(t)
	t.Cleanup(func() { _ = conn.Close() })
	s.labels = loadtest.New(conn, 1)
	s.labels.Heeds = true
	return s
}

// label labels until n answers are acknowledged.
func (s *farStudy) label(t *testing.T, n int) {
	t.Helper()
	if err := s.labels.Label(n); err != nil {
		t.Fatalf("%v\nthe server says\n%s", err, s.server.out)
	}
}

// ended stops the server, and returns what it has recorded.
func (s *farStudy) ended(t *testing.T) record.Record {
	t.Helper()
	s.server.kill()
	db := must.Get(store.OpenReadOnly(t.Context(), s.data))(t)
	defer db.Close()
	rec := must.Get(db.Load(t.Context(), s.id))(t)
	return rec
}

// A session whose trainings are all done elsewhere, by workers that are killed and a server that is killed, asks the same
// questions as one on a single machine with the same schedule, and learns the same, bit for bit.
func TestTrainingsElsewhere(t *testing.T) {
	t.Parallel()
	const answers = 24
	here, hereRec, _ := study(t, answers, 0, 0)
	folder := t.TempDir()
	carriers := map[string]func(t *testing.T, data string) (workers, serve []string){
		"NATS in the server": func(t *testing.T, data string) (workers, serve []string) {
			addr := freeAddr(t)
			key := filepath.Join(t.TempDir(), "w.nkey")
			if status, _, errs := cli(t, "worker-key", "w", "--data", data, "--out", key); status != 0 {
				t.Fatal(errs)
			}
			return []string{"--nats", "nats://" + addr, "--credentials", key, "--name", "w"}, []string{"--nats-listen", addr}
		},
		"a folder": func(*testing.T, string) (workers, serve []string) {
			return []string{"--folder", folder, "--name", "w"}, []string{"--folder", folder}
		},
	}
	for name, open := range carriers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			workers, serve := open(t, data)
			s := newFarStudy(t, data, workers, serve...)
			w := startWorker(t, workers...)
			s.label(t, 6)
			w.kill()
			w = startWorker(t, workers...)
			s.label(t, 14)
			s.server.kill()
			s.server = startServer(t, s.serve...)
			must.Do(t, s.labels.Conn.Reconnect(t.Context()))
			s.label(t, answers)
			rec := s.ended(t)
			if diff := cmp.Diff(here.Asked, s.labels.Asked); diff != "" {
				t.Errorf("other questions were asked (-here +elsewhere):\n%s", diff)
			}
			if last, want := rec.Snapshots[len(rec.Snapshots)-1], hereRec.Snapshots[len(hereRec.Snapshots)-1]; !bytes.Equal(last.Belief, want.Belief) {
				t.Error("another belief was learnt")
			}
			if len(rec.Log) != answers {
				t.Errorf("%d answers are recorded, want %d", len(rec.Log), answers)
			}
			if said := w.out.String(); !strings.Contains(said, "offers itself for 1 jobs at a time") {
				t.Errorf("the worker says %s", said)
			}
		})
	}
}

// Rehearsals that workers do have the same comparisons as those of this process; a worker that is killed changes nothing.
func TestRunsElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"--runs", "4", "--env", "gridworld", "--matched", "--answers", "8", "--every", "4", "--train-every", "3", "--adopt-after", "2", "--seed", "70"}
	near, far := filepath.Join(dir, "near.csv"), filepath.Join(dir, "far.csv")
	simulateRuns(t, append(slices.Clone(args), "--csv", near)...)
	folder := filepath.Join(dir, "shared")
	must.Do(t, os.Mkdir(folder, 0o700))
	startWorker(t, "--folder", folder, "--name", "one")
	two := startWorker(t, "--folder", folder, "--name", "two")
	time.AfterFunc(3*time.Second, func() { _ = two.cmd.Process.Kill() })
	said := simulateRuns(t, append(slices.Clone(args), "--csv", far, "--folder", folder)...)
	if !strings.Contains(said, "4 runs (seeds 70 to 73)") {
		t.Errorf("it says %s", said)
	}
	a, b := readColumns(t, near), readColumns(t, far)
	for name := range a {
		if name == "session" || name == "response_s" {
			continue
		}
		if got, want := bySeed(b, name), bySeed(a, name); !slices.Equal(got, want) {
			t.Errorf("column %s is %q, here %q", name, got, want)
		}
	}
}

// bySeed returns a column in the order of seeds and answers.
func bySeed(columns map[string][]string, name string) []string {
	var rows []string
	for i := range columns[name] {
		rows = append(rows, fmt.Sprintf("%s %3s %s", columns["seed"][i], columns["answers"][i], columns[name][i]))
	}
	slices.Sort(rows)
	return rows
}

// What is wrong is said clearly, and labelling goes on without workers.
func TestWorkplaceFaults(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	addr, nats := freeAddr(t), freeAddr(t)
	_, link := newLink(t, data, addr, "--env", "gridworld", "--kind", "clip_comparison")
	startServer(t, "serve", "--data", data, "--addr", addr, "--nats", "nats://"+nats) // no NATS server listens there
	conn := must.Get(client.Dial(t.Context(), link))(t)
	defer conn.Close()
	if err := loadtest.New(conn, 1).Label(6); err != nil {
		t.Errorf("without NATS: %v", err)
	}
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"worker", "--nats", "nats://h:1", "--folder", dir}, "give --nats or --folder, not both"},
		{[]string{"worker", "--folder", dir, "--name", "a.b"}, `"a.b" cannot be the name of a worker`},
		{[]string{"worker", "--credentials", "x", "--folder", dir}, "--credentials are for --nats, which is missing"},
		{[]string{"simulate", "--url", link, "--folder", dir}, "they need --runs or --study"},
		{[]string{"serve", "--data", t.TempDir(), "--addr", freeAddr(t), "--nats-listen", "nonsense"}, "no address for workers"},
	} {
		if status, _, errs := cli(t, test.args...); status == 0 || !strings.Contains(errs, test.says) {
			t.Errorf("%q: status %d, %s; want %q", test.args, status, errs, test.says)
		}
	}
}

// A worker whose key was revoked, or is another's, is refused, and says so.
func TestWorkerWithWrongKey(t *testing.T) {
	t.Parallel()
	data, key := t.TempDir(), filepath.Join(t.TempDir(), "w.nkey")
	if status, _, errs := cli(t, "worker-key", "w", "--data", data, "--out", key); status != 0 {
		t.Fatal(errs)
	}
	addr, nats := freeAddr(t), freeAddr(t)
	startServer(t, "serve", "--data", data, "--addr", addr, "--nats-listen", nats)
	if status, _, errs := cli(t, "worker-key", "--revoke", "w", "--data", data); status != 0 {
		t.Fatal(errs)
	}
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) { // until the server has read the keys again
		w := startWorker(t, "--nats", "nats://"+nats, "--credentials", key, "--name", "w")
		select {
		case <-w.done:
			if said := w.out.String(); !strings.Contains(said, "credentials") {
				t.Errorf("it says %s", said)
			}
			return
		case <-time.After(5 * time.Second):
			w.kill()
		}
		if time.Now().After(end) {
			t.Fatal("a worker with a revoked key goes on")
		}
	}
}
