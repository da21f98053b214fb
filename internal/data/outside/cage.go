package outside

import (
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A cage has the limits and restrictions under which a launcher starts a program.
type cage struct {
	Limits
	Network bool     // it has the network of this machine
	Write   []string // folders that it may write to, besides one of its own
	Own     []string // variables that name that folder
	Bare    bool     // without namespaces, as on systems that do not allow them
	Threads int      // of this user, at most: a launcher counts those that there are
	Home    string   // the folder of its own, which a launcher makes
}

// homes are the variables that name the folder of a program's own, unless its description sets or passes them.
var homes = []string{"HOME", "TMPDIR", "TMP", "TEMP"}

// cage returns that of the program.
func (d *Description) cage() cage {
	c := cage{Limits: d.Limits, Network: d.Network, Write: d.writable(), Bare: d.bare}
	for _, name := range homes {
		if _, set := d.Environment[name]; !set && !slices.Contains(d.Pass, name) {
			c.Own = append(c.Own, name)
		}
	}
	return c
}

// Walls that may be missing, as what a program can then do.
const (
	wallProcesses = "it can see and end other processes of this user"
	wallFiles     = "it can write to all files of this user"
	wallDisk      = "all files that it writes have no limit together"
	wallNetwork   = "it can use the network"
	wallLimits    = "it has no limits of processes, memory, files and processor time"
)

// wallsAfter is how long it may take to find out which walls there are.
const wallsAfter = time.Minute

// Missing returns which walls this system does not put around programs that are started with a launcher, each as what
// a program can then do (docs/outside.md). network says that they have the network.
func Missing(launcher string, network bool) []string {
	out := []string{wallProcesses, wallFiles, wallDisk, wallNetwork}
	if !canLaunch || launcher == "" {
		return append(out, wallLimits)
	}
	told, err := json.Marshal(cage{Network: network, Limits: Limits{DiskMB: 1}})
	if err != nil {
		return out
	}
	ctx, cancel := context.WithTimeout(context.Background(), wallsAfter)
	defer cancel()
	said, err := exec.CommandContext(ctx, launcher, LaunchCommand, launchWalls, string(told)).Output()
	if found := []string(nil); err == nil && json.Unmarshal(said, &found) == nil {
		return found
	}
	return out
}

// WithoutWalls returns a sentence that says what programs can do as walls are missing; empty if none is.
func WithoutWalls(missing []string) string {
	if len(missing) == 0 {
		return ""
	}
	return "On this machine not all walls stand around it: " + strings.Join(missing, "; ") + "."
}
