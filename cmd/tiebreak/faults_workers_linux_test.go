package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/check/waittest"
	"tiebreak/internal/data/outside"
	"tiebreak/internal/lab/loadtest"
	"tiebreak/web/client"
)

// pryingScript is an environment that says what it can do, once it is used, and hangs with the pipe $PIPE open.
const pryingScript = `read -r line
echo '{"id":1,"result":{"protocol":1,"name":"hang","version":"1","observation":1,"action":{"low":[-1],"high":[1]},"features":["a"],"horizon":20,"step_seconds":0.1,"draws":"picture"}}'
read -r line || exit 0
exec 3> "$PIPE"
files=no; network=no; processes=no
{ echo x > beside; } 2>/dev/null && files=yes
bash -c 'exec 4<>/dev/tcp/127.0.0.1/'$PORT 2>/dev/null && network=yes
kill -0 $OTHER 2>/dev/null && processes=yes
echo "files $files, network $network, processes $processes" >&3
exec sleep 600
`

// A farProgram is an outside environment that only workers on other machines may run.
type farProgram struct {
	folder, path string      // of workers, and of its description
	lines        chan string // what it says; closed when no process of it is left
	server       *process
}

// newFarProgram starts a server with a session of the environment, whose first training waits for a worker.
func newFarProgram(t *testing.T) *farProgram {
	t.Helper()
	dir, addr := t.TempDir(), freeAddr(t)
	here := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = here.Close() })
	f := &farProgram{folder: t.TempDir(), path: filepath.Join(dir, "pry.json"), lines: make(chan string, 16)}
	pipe, port := filepath.Join(dir, "pipe"), here.Addr().(*net.TCPAddr).Port
	must.Do(t, syscall.Mkfifo(pipe, 0o600))
	for file, text := range map[string]string{
		f.path:                       fmt.Sprintf(`{"command": ["sh", "pry.sh"], "environment": {"PIPE": %q, "PORT": "%d", "OTHER": "%d"}, "answer_seconds": 600}`, pipe, port, os.Getpid()),
		filepath.Join(dir, "pry.sh"): pryingScript,
	} {
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	}
	go func() {
		defer close(f.lines)
		pipe, err := os.Open(pipe) // waits for a process that writes
		if err != nil {
			return
		}
		defer pipe.Close()
		for s := bufio.NewScanner(pipe); s.Scan(); {
			f.lines <- s.Text()
		}
	}()
	data := filepath.Join(dir, "data")
	_, link := newLink(t, data, addr, "--env", "outside-pry", "--outside", f.path)
	f.server = startServer(t, "serve", "--data", data, "--addr", addr, "--outside", f.path, "--trainings-here", "-1", "--folder", f.folder)
	conn := must.Get(client.Dial(t.Context(), link))(t)
	t.Cleanup(func() { _ = conn.Close() })
	go func() { _ = loadtest.New(conn, 1).Label(1) }() // has the session begin; there are no questions
	return f
}

// work starts a worker.
func (f *farProgram) work(t *testing.T, name string, args ...string) *process {
	t.Helper()
	return startWorker(t, append([]string{"--folder", f.folder, "--name", name, "--outside", f.path}, args...)...)
}

// TestFaultFarCage: a worker on another machine runs an outside environment in the same cage as the server would, and all of it is gone
// after the worker was killed. The control is a worker that gives it the network, and what it can do where the system has no walls.
func TestFaultFarCage(t *testing.T) {
	t.Parallel()
	missing := strings.Join(outside.Missing(program(t), false), "; ")
	can := func(wall string) string {
		if strings.Contains(missing, wall) {
			return "yes"
		}
		return "no"
	}
	for _, network := range []bool{false, true} {
		t.Run(fmt.Sprintf("network %t", network), func(t *testing.T) {
			t.Parallel()
			f := newFarProgram(t)
			want, args := fmt.Sprintf("files %s, network %s, processes %s", can("write to all files"), can("use the network"), can("see and end other")), []string(nil)
			if network {
				want, args = fmt.Sprintf("files %s, network yes, processes %s", can("write to all files"), can("see and end other")), []string{"--outside-network"}
			}
			w := f.work(t, "far", args...)
			if said := waittest.For(t, f.lines, "the environment at the worker"); said != want {
				t.Errorf("it says %q, want %q\n%s", said, want, w.out)
			}
			w.kill()
			if said := waittest.For(t, f.lines, "the environment of a worker that was killed to end"); said != "" {
				t.Errorf("it says %q", said)
			}
		})
	}
}

// TestFaultFrozenWorker: a worker that is stopped while it trains is given up, and its job goes to another. When it wakes up it ends what
// it did, so that the job is done once. Before, with both awake, only one has the job.
func TestFaultFrozenWorker(t *testing.T) {
	t.Parallel()
	if os.Getenv(faultsEnv) == "" {
		t.Skip("a worker is given up after 20 s: 'task test:faults' waits for that; TestWorkerFallsSilent does in less")
	}
	f := newFarProgram(t)
	one := f.work(t, "one")
	waittest.For(t, f.lines, "the environment at the worker")
	waittest.Until(t, "it to hang", func() bool { return hanging(t, one.cmd.Process.Pid) == 1 })
	two := f.work(t, "two")
	waittest.Until(t, "the second worker to offer itself", func() bool { return strings.Contains(two.out.String(), "offers itself") })
	runs := func(w *process, n int) func() bool { return func() bool { return hanging(t, w.cmd.Process.Pid) == n } }
	if !runs(one, 1)() || !runs(two, 0)() {
		t.Errorf("the first worker runs %d environments, and the second %d", hanging(t, one.cmd.Process.Pid), hanging(t, two.cmd.Process.Pid))
	}
	must.Do(t, one.cmd.Process.Signal(syscall.SIGSTOP))
	waittest.Until(t, "the environment at the other worker", runs(two, 1))
	must.Do(t, one.cmd.Process.Signal(syscall.SIGCONT))
	waittest.Until(t, "the first worker to end what it did", runs(one, 0))
	if !runs(two, 1)() {
		t.Errorf("the second worker has lost the job:\n%s", two.out)
	}
}

// hanging returns how many environments hang below a process.
func hanging(t *testing.T, root int) (n int) {
	t.Helper()
	entries := must.Get(os.ReadDir("/proc"))(t)
	parents, sleeps := map[int]int{}, []int(nil)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + e.Name() + "/stat") // it may have ended
		if f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])); len(f) > 1 {
			parents[pid], _ = strconv.Atoi(f[1])
		}
		if line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline"); string(line) == "sleep\x00600\x00" {
			sleeps = append(sleeps, pid)
		}
	}
	for _, pid := range sleeps {
		for ; pid > 1 && pid != root; pid = parents[pid] {
		}
		if pid == root {
			n++
		}
	}
	return n
}
