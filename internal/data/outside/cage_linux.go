package outside

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespaces are those of a program: processes that it cannot leave and sees alone, files, shared memory, and the user,
// which is the same, without rights over what is outside.
const namespaces = syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC

// fork starts a process that becomes the program of args, a path and words, within namespaces where the system allows
// them. Without args it says which walls are missing.
func (c cage) fork(args []string, files []uintptr, env []string) (pid int, walled bool, err error) {
	told, err := json.Marshal(c)
	if err != nil {
		return 0, false, err
	}
	start := func(stage string, sys *syscall.SysProcAttr) (int, error) {
		sys.Setpgid, sys.Pdeathsig = true, syscall.SIGKILL
		return syscall.ForkExec("/proc/self/exe", append([]string{os.Args[0], LaunchCommand, stage, string(told)}, args...), &syscall.ProcAttr{Env: env, Files: files, Sys: sys})
	}
	if !c.Bare {
		sys := &syscall.SysProcAttr{
			Cloneflags:  namespaces,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
			AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP},
		}
		if !c.Network {
			sys.Cloneflags |= syscall.CLONE_NEWNET
		}
		if pid, err := start(launchInit, sys); err == nil {
			return pid, true, nil
		}
	}
	pid, err = start(launchExec, &syscall.SysProcAttr{})
	return pid, false, err
}

// walls says which walls are missing, in a process that was started for it.
func (c cage) walls() int {
	runtime.LockOSThread()
	if err := c.makeHome(); err != nil {
		return exitNotRun
	}
	defer os.RemoveAll(c.Home)
	pid, walled, err := c.fork(nil, []uintptr{0, 1, 2}, os.Environ())
	if err != nil {
		return exitNotRun
	}
	var status unix.WaitStatus
	for {
		if _, err = unix.Wait4(pid, &status, 0, nil); err != unix.EINTR { //nolint:errorlint // of the system, as it is
			break
		}
	}
	if walled && err == nil && status.ExitStatus() == 0 {
		return 0
	}
	return exitNotRun // all are
}

// makeHome makes the folder of the program's own.
func (c *cage) makeHome() (err error) {
	c.Home, err = os.MkdirTemp("", "tiebreak-outside-")
	return err
}

// environ returns the variables of the program.
func (c cage) environ() (out []string) {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !slices.Contains(c.Own, name) {
			out = append(out, v)
		}
	}
	for _, name := range c.Own {
		out = append(out, name+"="+c.Home)
	}
	if real := os.Getenv("HOME"); real != "" && slices.Contains(c.Own, "HOME") && os.Getenv("PYTHONUSERBASE") == "" {
		out = append(out, "PYTHONUSERBASE="+filepath.Join(real, ".local")) // packages of pip install --user
	}
	return out
}

// first is the first process of the namespaces. All others there end with it. It builds what walls it can, starts the
// program of args and returns its exit status; without args it says which walls are missing.
func (c cage) first(args []string) (code int, err error) {
	runtime.LockOSThread() // the rights to build are the thread's
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGHUP, unix.SIGINT, unix.SIGTERM)
	missing := c.build()
	if len(args) == 0 {
		return 0, json.NewEncoder(os.Stdout).Encode(missing)
	}
	told, err := json.Marshal(c)
	if err != nil {
		return 0, err
	}
	child, err := syscall.ForkExec("/proc/self/exe", append([]string{os.Args[0], LaunchCommand, launchExec, string(told)}, args...), &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return 0, err
	}
	os.Stdin.Close() // they are the program's
	os.Stdout.Close()
	ended, gone := make(chan int, 1), make(chan struct{})
	go reap(child, ended, gone)
	return <-ended, nil
}

// build builds the walls of the namespaces and returns which could not be.
func (c cage) build() (missing []string) {
	missing = []string{}
	must := func(wall string, err error) {
		if err != nil && !slices.Contains(missing, wall) {
			missing = append(missing, wall)
		}
	}
	at, err := os.Getwd()
	must(wallFiles, err)
	must(wallFiles, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	for _, folder := range c.Write {
		must(wallFiles, unix.Mount(folder, folder, "", unix.MS_BIND|unix.MS_REC, ""))
	}
	must(wallFiles, unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}))
	for _, folder := range c.Write { // an error shows when the program writes there
		_ = unix.MountSetattr(unix.AT_FDCWD, folder, unix.AT_RECURSIVE, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	}
	for _, folder := range []string{c.Home, "/dev/shm"} {
		if _, err := os.Stat(folder); err == nil {
			must(wallDisk, unix.Mount("tmpfs", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("size=%dm,mode=0700", c.DiskMB)))
		}
	}
	must(wallProcesses, unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""))
	if c.Network {
		missing = append(missing, wallNetwork)
	} else {
		_ = loopback() // without it a program that speaks to itself fails
	}
	must(wallFiles, os.Chdir(at)) // what is mounted over it now
	return missing
}

// loopback turns on the network of this machine with itself, the only one in the namespace.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, r)
}

// powerless takes all rights of an administrator from this thread, also those that a program would get by being
// started (PR_SET_NO_NEW_PRIVS).
func powerless() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	for right := uintptr(0); right < 64; right++ {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, right, 0, 0, 0) // those that there are, if this may; else none is gained
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) // none on old systems
	var none [2]unix.CapUserData
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
}
