package outside

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// LaunchCommand is the first argument with which a program starts itself again to be a launcher: it then calls Launch
// with the others.
const LaunchCommand = "launch"

// The second argument: what starts a program, the first process of its namespaces, what becomes it, and what says
// which walls are missing.
const (
	launchRun   = "run"
	launchInit  = "init"
	launchExec  = "exec"
	launchWalls = "walls"
)

// killAfter is how long a launcher may take to end all that was started.
const killAfter = 10 * time.Second

// launched returns how to run cmd below a launcher, and what releases that.
func (d *Description) launched(cmd *exec.Cmd) (_ *exec.Cmd, release func(), err error) {
	path := cmd.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.Folder, path)
	}
	if _, err := exec.LookPath(path); err != nil { // or a launcher would say so
		return nil, nil, err
	}
	told, err := json.Marshal(d.cage())
	if err != nil {
		return nil, nil, err
	}
	held, hold, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	out := exec.Command(d.Launcher, append([]string{LaunchCommand, launchRun, string(told), path}, d.Command...)...)
	out.ExtraFiles = []*os.File{held}
	return out, sync.OnceFunc(func() { hold.Close() }), nil
}

// started closes the files of this process that the launcher has inherited.
func started(cmd *exec.Cmd) {
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
}
