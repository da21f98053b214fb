package outside

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A launcher is this program, started again as the parent of an outside environment. All that the environment starts
// stays below the launcher, also after setsid or when its parent has ended (PR_SET_CHILD_SUBREAPER). The launcher ends
// all of it when the environment ends, has more than its limits, or the pipe closes that the launcher's parent holds,
// which happens also if that is killed.

// canLaunch reports whether Launch works on this system.
const canLaunch = true

// controlFD is the pipe that ends with the program that uses the environment.
const controlFD = 3

// How often the processes of an environment are counted (RLIMIT_NPROC does not bind root), and how often while there
// are more than few.
const (
	lookEvery = 100 * time.Millisecond
	lookOften = 20 * time.Millisecond
	few       = 8
)

// measureEvery is how often the files in the folder of an environment's own are measured. Within namespaces the folder is empty from
// outside, and its file system has the limit.
const measureEvery = 500 * time.Millisecond

// Exit statuses of a launcher, as of shells, where the environment has none.
const (
	exitOver    = 125 // it went beyond its limits
	exitNotRun  = 126 // it cannot be started
	exitSignal0 = 128 // and the number of the signal that ended it
)

// Launch runs the launcher, in a process that was started with LaunchCommand and args. It returns the
// exit status.
func Launch(args []string) int {
	var c cage
	if len(args) < 2 || json.Unmarshal([]byte(args[1]), &c) != nil || len(args) < 4 && args[0] != launchWalls && args[0] != launchInit {
		fmt.Fprintf(os.Stderr, "%s is for tiebreak itself\n", LaunchCommand)
		return exitNotRun
	}
	code, err := exitNotRun, error(nil)
	switch args[0] {
	case launchWalls:
		return c.walls()
	case launchInit:
		code, err = c.first(args[2:])
	case launchExec:
		err = c.become(args[2], args[3:])
	default:
		code, err = c.parent(args[2:])
	}
	if err == nil {
		return code
	}
	fmt.Fprintf(os.Stderr, "%s cannot be started: %v\n", args[len(args)-1], err)
	return exitNotRun
}

// become sets the limits of this process and makes it the program at path.
func (c cage) become(path string, argv []string) error {
	runtime.LockOSThread() // its rights are the thread's
	for _, r := range []struct{ what, most int }{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_NOFILE, c.OpenFiles},
		{unix.RLIMIT_FSIZE, c.FileMB << 20},
		{unix.RLIMIT_DATA, 2 * c.MemoryMB << 20},
		{unix.RLIMIT_CPU, c.CPUSeconds},
		{unix.RLIMIT_NPROC, c.Threads},
	} {
		var now unix.Rlimit
		if err := unix.Getrlimit(r.what, &now); err != nil {
			return err
		}
		most := min(uint64(r.most), now.Max) //nolint:gosec // not negative
		if err := syscall.Setrlimit(r.what, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	if err := powerless(); err != nil {
		return err
	}
	return syscall.Exec(path, argv, os.Environ()) //nolint:gosec // what the researcher described
}

// tasks returns how many threads this user has: what RLIMIT_NPROC counts. It binds all but root.
func tasks() (n int) {
	entries, _ := os.ReadDir("/proc") // none: the limit is lower
	for _, e := range entries {
		var st unix.Stat_t
		if unix.Stat("/proc/"+e.Name(), &st) == nil && int(st.Uid) == os.Getuid() {
			threads, _ := os.ReadDir("/proc/" + e.Name() + "/task")
			n += len(threads)
		}
	}
	return n
}

// parent starts the program of args, a path and words, in a process that becomes it, and returns its exit status
// when nothing of it is left.
func (c cage) parent(args []string) (code int, err error) {
	runtime.LockOSThread() // the program ends with the thread that starts it
	unix.CloseOnExec(controlFD)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGHUP, unix.SIGINT, unix.SIGTERM) // of the terminal, or of a program for its group: not for us
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	if err := c.makeHome(); err != nil {
		return 0, err
	}
	defer os.RemoveAll(c.Home)
	c.Threads = tasks() + 1024 + 4*c.Processes
	child, walled, err := c.fork(args, []uintptr{0, 1, 2}, c.environ())
	if err != nil {
		return 0, err
	}
	hurry()
	os.Stdin.Close() // they are the program's
	os.Stdout.Close()
	ended, gone, released := make(chan int, 1), make(chan struct{}), make(chan struct{})
	go reap(child, ended, gone)
	go func() {
		defer close(released)
		_, _ = io.Copy(io.Discard, os.NewFile(controlFD, "control"))
	}()
	look, measure := time.NewTicker(lookEvery), time.NewTicker(measureEvery)
	defer look.Stop()
	defer measure.Stop()
	for {
		select {
		case code = <-ended:
		case <-released:
		case <-look.C:
			n, why := c.over(walled)
			if n > few {
				look.Reset(lookOften)
			} else {
				look.Reset(lookEvery)
			}
			if why == "" {
				continue
			}
			code = sayOver(why)
		case <-measure.C:
			why := c.overDisk()
			if why == "" {
				continue
			}
			code = sayOver(why)
		}
		sweep(gone)
		return code, nil
	}
}

// sayOver says which limit was exceeded, and returns the exit status.
func sayOver(why string) int {
	fmt.Fprintf(os.Stderr, "\nit was ended: %s (\"limits\" in its description)\n", why)
	return exitOver
}

// hurry lets the threads of this process run before those of an environment that forks without end. It succeeds for
// root, and RLIMIT_NPROC binds all others.
func hurry() {
	threads, _ := os.ReadDir("/proc/self/task")
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.SchedSetAttr(id, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: -10}, 0)
		}
	}
}

// reap waits for all that ends below this process until nothing is left.
func reap(child int, ended chan<- int, gone chan<- struct{}) {
	defer close(gone)
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case err == unix.EINTR: //nolint:errorlint // of the system, as it is
			continue
		case err != nil:
			return // there are no more
		case pid != child:
		case status.Signaled():
			ended <- exitSignal0 + int(status.Signal())
		default:
			ended <- status.ExitStatus()
		}
	}
}

// over returns how many processes there are, and says which limit is exceeded. The first process of walls does not count.
func (l Limits) over(walled bool) (n int, why string) {
	pages := 0
	if walled {
		n = -1
	}
	children := childrenOf
	if _, err := os.Stat("/proc/thread-self/children"); err != nil { // an old kernel
		all := familyOf()
		children = func(pid int) []int { return all[pid] }
	}
	for pid := range below(children) {
		n++
		var size, resident int
		if b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm"); err == nil {
			_, _ = fmt.Sscan(string(b), &size, &resident)
		}
		pages += resident
	}
	switch mb := pages * os.Getpagesize() >> 20; {
	case n > l.Processes:
		why = fmt.Sprintf("it had %d processes; the limit is %d", n, l.Processes)
	case mb > l.MemoryMB:
		why = fmt.Sprintf("it used %d MiB of memory; the limit is %d", mb, l.MemoryMB)
	}
	return n, why
}

// overDisk says so if the files in the folder of the program's own have more than their limit together.
func (c cage) overDisk() (why string) {
	var blocks int64                                                               // of 512 bytes: what files take, not how long they are
	_ = filepath.WalkDir(c.Home, func(path string, _ fs.DirEntry, _ error) error { // what cannot be read, or is gone, takes nothing
		var st unix.Stat_t
		if unix.Lstat(path, &st) == nil {
			blocks += st.Blocks
		}
		return nil
	})
	if mb := blocks >> 11; mb > int64(c.DiskMB) {
		why = fmt.Sprintf("its files had %d MiB; the limit is %d", mb, c.DiskMB)
	}
	return why
}

// sweep ends all that is below this process. What is stopped cannot start more, so that all is stopped first.
func sweep(gone <-chan struct{}) {
	stopped := map[int]bool{}
	for {
		all := familyOf()
		list := below(func(pid int) []int { return all[pid] })
		fresh := false
		for pid, parent := range list {
			if !stopped[pid] && send(pid, parent, unix.SIGSTOP) {
				stopped[pid], fresh = true, true
			}
		}
		if fresh {
			continue
		}
		for pid, parent := range list {
			send(pid, parent, unix.SIGKILL)
		}
		select {
		case <-gone:
			return
		case <-time.After(10 * time.Millisecond):
			clear(stopped) // what was missed, or has the number of one that ended
		}
	}
}

// send sends a signal to a process unless it has ended, and reports whether it did. Its number may be that of another
// process by now, whose parent is another.
func send(pid, parent int, sig unix.Signal) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	state, now := statOf(pid)
	if state == 'Z' || now != parent && now != os.Getpid() {
		return false
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0) == nil
}
