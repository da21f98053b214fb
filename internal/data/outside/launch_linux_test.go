package outside

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
)

// scripted writes the description of a shell script that speaks the protocol up to reset and then does something, and
// returns its path and that of a pipe, which all processes that do it hold open as file 3.
func scripted(t *testing.T, what, limits string) (description, pipe string) {
	t.Helper()
	pipe = filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	description = write(t, "script.json", `{"command": ["sh", "script.sh"], "environment": {"PIPE": "`+pipe+`"}, "answer_seconds": 600, "limits": {`+limits+`}}`)
	script := `read -r line
echo '{"id":1,"result":{"protocol":1,"name":"hang","version":"1","observation":1,"action":{"low":[-1],"high":[1]},"features":["a"],"horizon":20,"step_seconds":0.1,"draws":"picture"}}'
read -r line || exit 0
exec 3> "$PIPE"
` + what + "\n"
	if err := os.WriteFile(filepath.Join(filepath.Dir(description), "script.sh"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return description, pipe
}

// holders reads a pipe. lines has what is written to it, and is closed when no process holds it any more.
func holders(t *testing.T, pipe string) (lines chan string) {
	t.Helper()
	lines = make(chan string, 100_000)
	go func() {
		defer close(lines)
		f, err := os.Open(pipe) // waits for a process that writes
		if err != nil {
			return
		}
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return lines
}

// line waits for a line, and drained for the end; it returns how many lines came before.
func line(t *testing.T, lines <-chan string) {
	t.Helper()
	select {
	case _, ok := <-lines:
		if !ok {
			t.Fatal("the processes ended before they were to")
		}
	case <-time.After(time.Minute):
		t.Fatal("no process said that it runs within a minute")
	}
}

func drained(t *testing.T, lines <-chan string) (n int) {
	t.Helper()
	for late := time.After(time.Minute); ; {
		select {
		case _, ok := <-lines:
			if !ok {
				return n
			}
			n++
		case <-late:
			t.Fatal("processes are left after a minute")
		}
	}
}

// Ways of leaving the group, the session and the parent. Each writes a line.
var escapes = map[string]string{
	"setsid":               `setsid sh -c 'echo x >&3; exec sleep 600' & exec sleep 600`,
	"daemon that is alone": `setsid sh -c 'setsid sh -c "echo x >&3; exec sleep 600" & exit 0'; exec sleep 600`,
	"parent that ended":    `(sh -c 'echo x >&3; exec sleep 600' &) ; exec sleep 600`,
	"signals ignored":      `setsid sh -c 'trap "" HUP INT TERM; echo x >&3; while :; do sleep 600; done' & exec sleep 600`,
	"chain":                `cd "$TMPDIR"; cat > chain.sh <<'END'` + "\necho x >&3\nsleep 0.05\nsetsid sh chain.sh &\nexit 0\nEND\n" + `sh chain.sh; exec sleep 600`,
}

func launchedProgram(t *testing.T, description string) *Program {
	t.Helper()
	d, err := Read(description)
	if err != nil {
		t.Fatal(err)
	}
	d.Launcher = os.Args[0]
	p, err := Load(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// reset begins an episode of p, which hangs, in the background. The process is not started again when it ends.
func reset(t *testing.T, p *Program) (env idrl.Environment, failed chan error) {
	t.Helper()
	env, failed = start(t, p), make(chan error, 1)
	inner(env).starts = maxStarts - 1
	go func() {
		env.Reset(rng.New(1, "env", 0))
		failed <- idrl.Err(env)
	}()
	return env, failed
}

// Nothing of an environment is left after it was interrupted, wherever its processes hide.
func TestNothingSurvivesAnInterrupt(t *testing.T) {
	for name, what := range escapes {
		t.Run(name, func(t *testing.T) {
			path, pipe := scripted(t, what, "")
			p := launchedProgram(t, path)
			lines := holders(t, pipe)
			env, failed := reset(t, p)
			line(t, lines)
			env.(interface{ Interrupt() }).Interrupt()
			drained(t, lines)
			waittest.For(t, failed, "the reset to fail")
		})
	}
}

// Nor after the program that uses it was killed.
func TestNothingSurvivesAKilledUser(t *testing.T) {
	for name, what := range escapes {
		t.Run(name, func(t *testing.T) {
			path, pipe := scripted(t, what, "")
			lines := holders(t, pipe)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), parentVariable+"="+path)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line(t, lines)
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed
			drained(t, lines)
		})
	}
}

// Nor after the program of the environment itself ended.
func TestNothingSurvivesTheEnd(t *testing.T) {
	path, pipe := scripted(t, `setsid sh -c 'echo x >&3; exec sleep 600' & sleep 0.2; exit 7`, "")
	p := launchedProgram(t, path)
	lines := holders(t, pipe)
	_, failed := reset(t, p)
	line(t, lines)
	drained(t, lines)
	if err := waittest.For(t, failed, "the reset to fail"); err == nil || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("%v", err)
	}
}

// What exceeds its limits is ended with all that it started, and the error says why. What forks here does so at most
// some hundred times.
func TestLimits(t *testing.T) {
	const twenty = `for i in $(seq 20); do (x=$(head -c 20000000 /dev/zero | tr '\0' x); echo x >&3; sleep %s) & done; wait; exit 9` // of 20 MB or more each
	for _, test := range []struct{ name, what, limits, want string }{
		{"processes", `for i in $(seq 500); do setsid sleep 600 & echo x >&3; done; sleep 600`, `"processes": 10`, "processes; the limit is 10"},
		{"processes that multiply", `bomb() { echo x >&3; [ $1 = 8 ] && exec sleep 600; bomb $(($1+1)) & bomb $(($1+1)) & wait; }; bomb 0`, `"processes": 10`, "processes; the limit is 10"},
		{"memory", `echo x >&3; x=$(head -c 400000000 /dev/zero | tr '\0' x); sleep 600`, `"memory_mb": 200`, ""},
		{"memory of many", fmt.Sprintf(twenty, "600"), `"memory_mb": 200`, "MiB of memory; the limit is 200"},
		{"memory of many within the limit", fmt.Sprintf(twenty, "0"), ``, "exit status 9"},
		{"a file", `cd "$TMPDIR"; head -c 3000000 /dev/zero > file; wc -c < file >&3; exit 8`, `"file_mb": 1`, "exit status 8"},
		{"open files", `ulimit -n >&3; exit 9`, `"open_files": 123`, "exit status 9"},
		{"core", `ulimit -c >&3; exit 9`, ``, "exit status 9"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path, pipe := scripted(t, test.what, test.limits)
			p := launchedProgram(t, path)
			lines := holders(t, pipe)
			_, failed := reset(t, p)
			if first := waittest.For(t, lines, "the limit"); test.name == "a file" && first != "1048576" || test.name == "open files" && first != "123" || test.name == "core" && first != "0" {
				t.Errorf("the limit is %q", first)
			}
			drained(t, lines)
			if err := waittest.For(t, failed, "the reset to fail"); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// Of the variables of this program only those that say where things are reach an environment, and those that the
// description names.
func TestEnvironmentIsClean(t *testing.T) {
	t.Setenv("TIEBREAK_SECRET", "s3cret")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s3cret")
	t.Setenv("CUDA_VISIBLE_DEVICES", "1")
	t.Setenv("LC_ALL", "C.UTF-8")
	path, pipe := scripted(t, `env >&3; exec 3>&-; sleep 600`, `},"pass":["CUDA_VISIBLE_DEVICES"],"x":{`)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), `,"x":{}`, "", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	p := launchedProgram(t, path)
	lines := holders(t, pipe)
	env, failed := reset(t, p)
	found := map[string]bool{}
	for l := range lines {
		name, _, _ := strings.Cut(l, "=")
		found[name] = true
		if strings.Contains(l, "s3cret") {
			t.Errorf("it has %s", l)
		}
	}
	for _, name := range []string{"PATH", "CUDA_VISIBLE_DEVICES", "LC_ALL", "PIPE"} {
		if !found[name] {
			t.Errorf("it lacks %s; it has %v", name, fmt.Sprint(found))
		}
	}
	env.(interface{ Interrupt() }).Interrupt()
	waittest.For(t, failed, "the reset to fail")
}
