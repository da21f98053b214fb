package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/data/outside"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/study/settings"
	"tiebreak/store"
)

// binary returns the path of the program, built once for all tests.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := scratch()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "tiebreak")
	out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == outside.LaunchCommand {
		os.Exit(outside.Launch(os.Args[2:]))
	}
	if len(os.Args) == 2 && os.Args[1] == importJobCommand {
		os.Exit(serveImport(os.Stdin, os.Stdout))
	}
	if len(os.Args) == 3 && os.Args[1] == falseCommand {
		os.Exit(serveFalsely(os.Args[2]))
	}
	if dir := os.Getenv(featuresEnv); dir != "" {
		if err := labelUnderLearntFeatures(context.Background(), dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == badCommand {
		os.Exit(serveBadly(os.Args[2]))
	}
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		// A server in the process of a test starts its workers from its own file: each would run all tests, and start more.
		fmt.Fprintf(os.Stderr, "the test binary has no command %q: run the program of program(t)\n", os.Args[1])
		os.Exit(2)
	}
	code := m.Run()
	if dir, err := scratch(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

func program(t testing.TB) string {
	t.Helper()
	path := must.Get(binary())(t)
	return path
}

// A process is a running server of the real program.
type process struct {
	cmd  *exec.Cmd
	out  *syncBuffer
	done chan struct{} // closed when it has ended
}

// syncBuffer is a buffer that may be read while a process writes to it.
type syncBuffer struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// startServer starts the program and waits until it says that it is running.
func startServer(t *testing.T, args ...string) *process {
	t.Helper()
	return startCommand(t, exec.Command(program(t), args...))
}

// startCommand is startServer of a command.
func startCommand(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, out: &syncBuffer{}, done: make(chan struct{})}
	cmd.Stderr = p.out
	stdout := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	ready := make(chan struct{})
	go func() {
		defer close(p.done)
		said := false
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			fmt.Fprintln(p.out, lines.Text())
			if !said && strings.HasPrefix(lines.Text(), "Press Ctrl-C") {
				said = true
				close(ready)
			}
		}
		_ = cmd.Wait()
	}()
	t.Cleanup(p.kill)
	select {
	case <-ready:
	case <-p.done:
		t.Fatalf("the server ended at once:\n%s", p.out)
	case <-time.After(patience):
		t.Fatalf("the server is not up after %v:\n%s", patience, p.out)
	}
	return p
}

// kill ends the process as a power cut would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
}

// find returns the first submatch of pattern in what the process printed.
func (p *process) find(t *testing.T, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(p.out.String())
	if m == nil {
		t.Fatalf("no %q in:\n%s", pattern, p.out)
	}
	return m[1]
}

// freeAddr returns an unused address, a different one for each call.
func freeAddr(t testing.TB) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", must.Port(t))
}

// scratch is a folder of this process for what several tests share.
var scratch = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "tiebreak-test") })

// cli runs the program in this process and returns its status and output.
func cli(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(t.Context(), stdio{In: strings.NewReader(""), Out: &out, Err: &errs}, args)
	return status, out.String(), errs.String()
}

func TestHelpTeaches(t *testing.T) {
	t.Parallel()
	_, list, _ := cli(t, "--help")
	for _, c := range commands() {
		if c.Hidden == strings.Contains(list, "  "+c.Name+" ") {
			t.Errorf("tiebreak --help lists %s: %v, want %v", c.Name, c.Hidden, !c.Hidden)
		}
		status, help, _ := cli(t, c.Name, "--help")
		if status != 0 || !strings.Contains(help, "Example:\n  tiebreak "+c.Name) || len(c.About) < 40 {
			t.Errorf("tiebreak %s --help: status %d, does not teach:\n%s", c.Name, status, help)
		}
		for _, sub := range c.Subs {
			if !strings.Contains(help, "  "+sub.Name+" ") {
				t.Errorf("tiebreak %s --help does not list %s", c.Name, sub.Name)
			}
			status, help, _ := cli(t, append(strings.Fields(sub.Name), "--help")...)
			if status != 0 || !strings.Contains(help, "Example:\n  tiebreak "+sub.Name) || len(sub.About) < 40 {
				t.Errorf("tiebreak %s --help: status %d, does not teach:\n%s", sub.Name, status, help)
			}
		}
	}
}

func TestCommandLineErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	for _, test := range []struct {
		name   string
		args   []string
		status int
		want   []string // in what is said
	}{
		{"unknown command", []string{"sevre"}, 2, []string{`unknown command "sevre"`, "serve"}},
		{"unknown flag", []string{"serve", "--prot", "1"}, 2, []string{"-prot", "tiebreak serve --help"}},
		{"argument left over", []string{"serve", "now"}, 2, []string{`unexpected argument "now"`}},
		{"unknown environment", []string{"session", "--data", dir, "--env", "mars"}, 2, []string{`"mars"`, "driver", "gridworld"}},
		{"own model without its folder", []string{"session", "--data", dir, "--env", "own-cart"}, 2, []string{`"own-cart"`, "--models", "none"}},
		{"unknown acquisition", []string{"session", "--data", dir, "--acquisition", "guess"}, 2, []string{`"guess"`, strings.Join(acquisition.Names(acquisition.Live()), ", ")}},
		{"acquisition of experiments only", []string{"session", "--data", dir, "--acquisition", "epd"}, 2, []string{`"epd"`, "known: lvar, idrl, uniform"}},
		{"acquisition for comparisons", []string{"session", "--data", dir, "--acquisition", "evr", "--kind", "state_rating"}, 2, []string{`"evr"`, "state_rating", "those that can: lvar"}},
		{"unknown likelihood", []string{"session", "--data", dir, "--likelihood", "logit"}, 2, []string{`"logit"`, strings.Join(idrl.Likelihoods(), ", ")}},
		{"unknown query type", []string{"session", "--data", dir, "--kind", "essay"}, 2, []string{`"essay"`, "clip_comparison"}},
		{"negative budget", []string{"session", "--data", dir, "--budget", "-3"}, 2, []string{"budget", "-3"}},
		{"kernel without one", []string{"session", "--data", dir, "--prior", "kernel"}, 2, []string{"kernel"}},
		{"data folder is a file", []string{"session", "--data", file}, 1, []string{file}},
		{"export without data", []string{"export", "--data", filepath.Join(dir, "none")}, 1, []string{"none"}},
		{"unknown format", []string{"export", "--data", dir, "--format", "xml"}, 2, []string{`"xml"`, "jsonl", "csv"}},
		{"no link", []string{"simulate"}, 2, []string{"--url"}},
		{"not a link", []string{"simulate", "--url", "hello"}, 2, []string{"hello", "/join/"}},
		{"unknown expert", []string{"simulate", "--url", "http://127.0.0.1:1/join/x", "--expert", "oracle"}, 2, []string{`"oracle"`, "perfect"}},
		{"no doubt at all", []string{"simulate", "--url", "http://127.0.0.1:1/join/x", "--temperature", "0"}, 2, []string{"--temperature", "perfect"}},
		{"endless doubt", []string{"simulate", "--url", "http://127.0.0.1:1/join/x", "--temperature", "Inf"}, 2, []string{"--temperature"}},
		{"negative tie band", []string{"simulate", "--url", "http://127.0.0.1:1/join/x", "--tie-band", "-1"}, 2, []string{"tie band"}},
		{"more than always mistaken", []string{"simulate", "--url", "http://127.0.0.1:1/join/x", "--expert", "b-pref", "--mistake", "2"}, 2, []string{"mistakes"}},
		{"skips below nothing", []string{"simulate", "--url", "http://127.0.0.1:1/join/x", "--expert", "b-pref", "--skip-below", "-1"}, 2, []string{"thresholds"}},
		{"matched without the data", []string{"simulate", "--url", "http://127.0.0.1:1/join/x", "--matched"}, 2, []string{"--matched", "--data"}},
		{"negative pace", []string{"simulate", "--url", "http://127.0.0.1:1/join/x", "--pace", "-1s"}, 2, []string{"--pace", "-1s"}},
		{"one session and many", []string{"simulate", "--url", "http://127.0.0.1:1/join/x", "--runs", "2"}, 2, []string{"--url", "--runs"}},
		{"no runs", []string{"simulate", "--runs", "0"}, 2, []string{"--runs", "0"}},
		{"the environment of a session that is there", []string{"simulate", "--url", "http://127.0.0.1:1/join/x", "--env", "chain"}, 2, []string{"--env", "--runs"}},
		{"idle time without a pace", []string{"simulate", "--runs", "2", "--skip-idle"}, 2, []string{"--skip-idle", "--pace"}},
		{"trainings that are awaited in real time", []string{"simulate", "--runs", "2", "--pace", "3s", "--await-training"}, 2, []string{"--await-training", "--skip-idle"}},
		{"runs in an unknown environment", []string{"simulate", "--runs", "2", "--env", "mars"}, 2, []string{`"mars"`, "gridworld"}},
		{"runs of an unknown expert", []string{"simulate", "--runs", "2", "--expert", "oracle"}, 2, []string{`"oracle"`}},
		{"runs without answers", []string{"simulate", "--runs", "2", "--answers", "0"}, 2, []string{"--answers"}},
		{"command of the lab", []string{"bench", "chain"}, 2, []string{`"bench" is now a command of tiebreak-lab`, "go run tiebreak/cmd/tiebreak-lab bench …"}},
		{"help for a command of the lab", []string{"help", "gaits"}, 2, []string{"go run tiebreak/cmd/tiebreak-lab gaits …"}},
		{"bad origin", []string{"serve", "--data", dir, "--addr", "127.0.0.1:0", "--origin", "study"}, 1, []string{`"study"`, "https://"}},
		{"unknown form of the log", []string{"serve", "--data", dir, "--addr", "127.0.0.1:0", "--log", "xml"}, 2, []string{`"xml"`, "text or json"}},
		{"bad proxy", []string{"serve", "--data", dir, "--addr", "127.0.0.1:0", "--proxy", "10.0.0.1,nginx"}, 1, []string{`"nginx"`, "10.0.0.0/24"}},
		{"bad address", []string{"serve", "--data", dir, "--addr", "nowhere"}, 1, []string{"nowhere", "--addr"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, _, stderr := cli(t, test.args...)
			if status != test.status {
				t.Errorf("status %d, want %d; it said:\n%s", status, test.status, stderr)
			}
			for _, w := range test.want {
				if !strings.Contains(stderr, w) {
					t.Errorf("no %q in:\n%s", w, stderr)
				}
			}
		})
	}
}

// TestExportNeedsNoEnvironment: answers can be had where the environment that
// they are about is not.
func TestExportNeedsNoEnvironment(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	db := must.Get(store.Open(t.Context(), data))(t)
	named := settings.Complete(idrl.SessionSpec{ID: "named", Env: "own-gone@3fa9c1d2", Features: []string{"Height of the nose", "Effort"}})
	early := settings.Complete(idrl.SessionSpec{ID: "early", Env: "driver"}) // of a version that recorded no names
	lost := settings.Complete(idrl.SessionSpec{ID: "lost", Env: "own-gone@3fa9c1d2"})
	for _, spec := range []idrl.SessionSpec{named, early, lost} {
		must.Do(t, db.CreateSession(t.Context(), spec))
	}
	must.Do(t, db.Close())
	for session, column := range map[string]string{"named": "features_a_height_of_the_nose", "early": "features_a_keeping_to_a_lane"} {
		status, header, stderr := cli(t, "export", "--data", data, "--session", session, "--format", "csv")
		if status != 0 || !strings.Contains(header, ","+column+",") {
			t.Errorf("export of %s: status %d, said %q, columns %s", session, status, stderr, header)
		}
	}
	if status, _, stderr := cli(t, "export", "--data", data, "--session", "lost"); status != 1 || !strings.Contains(stderr, "the session's page") {
		t.Errorf("export of a session without names: status %d, said %q", status, stderr)
	}
}

func TestDemo(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	first := startServer(t, "demo", "--data", data, "--addr", addr)
	base := first.find(t, `running at (\S+)`)
	if base != "http://"+addr {
		t.Errorf("the demo runs at %s, want %s", base, addr)
	}
	res := must.Get(http.Get(base + "/healthz"))(t)
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("healthz: %s", res.Status)
	}

	other := startServer(t, "demo", "--data", t.TempDir(), "--addr", addr)
	if moved := other.find(t, `using (\S+) instead`); moved == addr {
		t.Errorf("a second demo moved to %s, the address in use", moved)
	}
	link := first.find(t, `Annotator:\s+(\S+)`)
	status, stdout, stderr := cli(t, "simulate", "--url", link, "--answers", "7", "--expert", "bradley-terry", "--seed", "4")
	if status != 0 || !strings.Contains(stdout, "7 of 7 answers") {
		t.Fatalf("simulate: status %d\n%s%s", status, stdout, stderr)
	}
	_, list, _ := cli(t, "export", "--data", data) // beside the server
	if !strings.Contains(list, "7 answers") {
		t.Errorf("the list of sessions says:\n%s", list)
	}
	first.kill()

	again := startServer(t, "demo", "--data", data, "--addr", addr)
	link = again.find(t, `Annotator:\s+(\S+)`)
	if status, stdout, stderr = cli(t, "simulate", "--url", link, "--answers", "2", "--seed", "5"); status != 0 {
		t.Fatalf("simulate after a restart: status %d\n%s%s", status, stdout, stderr)
	}
	if _, list, _ = cli(t, "export", "--data", data); strings.Count(list, "\n") != 1 || !strings.Contains(list, "9 answers") {
		t.Errorf("after a second run the list of sessions says:\n%s", list)
	}
	for _, format := range []string{"jsonl", "csv"} {
		_, rows, _ := cli(t, "export", "--data", data, "--session", strings.Fields(list)[0], "--format", format)
		want := map[string]int{"jsonl": 9, "csv": 10}[format]
		if n := strings.Count(rows, "\n"); n != want {
			t.Errorf("export as %s has %d lines, want %d", format, n, want)
		}
	}
}

func TestStopsWhenAsked(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		for _, command := range []string{"serve", "demo"} {
			p := startServer(t, command, "--data", t.TempDir(), "--addr", "127.0.0.1:0")
			must.Do(t, p.cmd.Process.Signal(signal))
			waittest.For(t, p.done, fmt.Sprintf("%s to stop after %v", command, signal))
			if code := p.cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("exit status %d of %s after %v\n%s", code, command, signal, p.out)
			}
		}
	}
}

// simulatedBundle returns the bundle of a session with some answers.
func simulatedBundle(t *testing.T) string {
	t.Helper()
	data, path := t.TempDir(), filepath.Join(t.TempDir(), "s.zip")
	simulateRuns(t, "--runs", "1", "--env", "gridworld", "--answers", "3", "--data", data)
	_, list, _ := cli(t, "export", "--data", data)
	if status, _, errs := cli(t, "export", "--data", data, "--session", strings.Fields(list)[0], "--format", "bundle", "--out", path); status != 0 {
		t.Fatal(errs)
	}
	return path
}

// A command that is interrupted before it is done fails, so that a script does not go on: all but
// those that run until they are stopped.
func TestInterruptedCommandsFail(t *testing.T) {
	t.Parallel()
	data, out, bundle := answered(t), t.TempDir(), simulatedBundle(t)
	for signal, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		ctx, stop := context.WithCancelCause(t.Context())
		stop(shared.Stop{Signal: signal})
		for _, args := range [][]string{
			{"export", "--data", data, "--session", "s"},
			{"export", "--data", data, "--session", "s", "--format", "bundle", "--out", filepath.Join(out, "again")},
			{"import", bundle, "--data", t.TempDir()},
			{"clips", "--data", data, "--session", "s", "--out", out},
			{"simulate", "--runs", "1", "--env", "gridworld"},
			{"simulate", "--url", "http://127.0.0.1:1/join/x"},
			{"session", "list", "--data", data},
			{"doctor", "--data", data},
			{"serve", "--data", t.TempDir(), "--addr", "127.0.0.1:0"},
			{"demo", "--data", t.TempDir(), "--addr", "127.0.0.1:0"},
			{"worker"},
		} {
			want := want
			if args[0] == "serve" || args[0] == "demo" || args[0] == "worker" {
				want = 0
			}
			var said bytes.Buffer
			if got := run(ctx, stdio{In: strings.NewReader(""), Out: &said, Err: &said}, args); got != want {
				t.Errorf("%v after %v: exit status %d, want %d\n%s", args, signal, got, want, said.String())
			}
		}
	}
}
