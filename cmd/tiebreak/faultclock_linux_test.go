package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/waittest"
)

// clockEnv names the file with the seconds by which the clock of a program of clockProgram is ahead.
const clockEnv = "TIEBREAK_TEST_CLOCK"

// shiftSource is part of package time in such a program. It reads the file again and again, as what calls time.Now may be on a stack
// that has no room for that, and writes what it has read to a file that ends in the number of its process.
const shiftSource = `package time

import (
	"sync/atomic"
	"syscall"
)

var testShift atomic.Int64

func init() {
	path, ok := syscall.Getenv("` + clockEnv + `")
	if !ok {
		return
	}
	seen := path + string(appendInt([]byte("."), syscall.Getpid(), 0))
	readShift(path, seen)
	go func() {
		for {
			Sleep(5 * Millisecond)
			readShift(path, seen)
		}
	}()
}

func readShift(path, seen string) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer syscall.Close(fd)
	var b [32]byte
	n, _ := syscall.Read(fd, b[:])
	n = max(n, 0)
	shift, err := atoi(b[:n])
	if err != nil || int64(shift) == testShift.Load() {
		return
	}
	testShift.Store(int64(shift))
	if to, err := syscall.Open(seen, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_TRUNC|syscall.O_CLOEXEC, 0o600); err == nil {
		syscall.Write(to, b[:n])
		syscall.Close(to)
	}
}
`

// clockProgram is the program with a clock that a test sets: of time.Now, the time of day is moved and the monotonic clock is not, as
// when an administrator or NTP sets the clock of a machine. It is built from the same sources but for package time, which takes some
// minutes, as all of it is compiled again.
var clockProgram = sync.OnceValues(func() (string, error) {
	dir, err := scratch()
	if err != nil {
		return "", err
	}
	const now, moved = "sec, nsec, mono := runtimeNow()\n", "sec, nsec, mono := runtimeNow()\n\tsec += testShift.Load()\n"
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	source, err := os.ReadFile(filepath.Join(folder, "time.go"))
	if err != nil {
		return "", err
	}
	if strings.Count(string(source), now) != 1 {
		return "", fmt.Errorf("time.Now of %s is another than this test knows", runtime.Version())
	}
	replaced := map[string]string{}
	for name, text := range map[string]string{"time.go": strings.Replace(string(source), now, moved, 1), "shift.go": shiftSource} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", err
		}
		replaced[filepath.Join(folder, name)] = path
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	list, path := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "tiebreak-clock")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	if out, err := exec.Command("go", "build", "-overlay", list, "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build with another clock: %w\n%s", err, out)
	}
	return path, nil
})

// A movedClock is the clock of a server.
type movedClock struct {
	t    *testing.T
	path string
}

func newMovedClock(t *testing.T) movedClock {
	t.Helper()
	if os.Getenv(faultsEnv) == "" {
		t.Skip("the program is built a second time for this, which takes minutes: 'task test:faults' does")
	}
	return movedClock{t, filepath.Join(t.TempDir(), "clock")}
}

// run returns the command of a program with this clock.
func (m movedClock) run(args ...string) *exec.Cmd {
	m.t.Helper()
	path, err := clockProgram()
	if err != nil {
		m.t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), clockEnv+"="+m.path)
	return cmd
}

// ahead has the clock of a server be ahead of the machine's by so much, and waits until it is.
func (m movedClock) ahead(p *process, by time.Duration) {
	m.t.Helper()
	text, next := fmt.Sprint(int64(by/time.Second)), m.path+".next" // a server reads all of it, or all of the one before
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Rename(next, m.path); err != nil {
		m.t.Fatal(err)
	}
	waittest.Until(m.t, "the clock to be set", func() bool {
		seen, _ := os.ReadFile(fmt.Sprintf("%s.%d", m.path, p.cmd.Process.Pid))
		return string(seen) == text
	})
}
