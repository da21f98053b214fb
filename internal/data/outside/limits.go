package outside

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Limits are those of a program that is started, with all that it starts. On Linux they are kept
// (docs/outside.md); on other systems nothing keeps them.
type Limits struct {
	Processes int `json:"processes"`  // at a time; default 128
	MemoryMB  int `json:"memory_mb"`  // resident memory of all, MiB; default 8192
	OpenFiles int `json:"open_files"` // of a process; default 1024
	FileMB    int `json:"file_mb"`    // size of a file that is written, MiB; default 4096

	CPUSeconds int `json:"cpu_seconds"` // of a processor, for each process; default 86400
	DiskMB     int `json:"disk_mb"`     // of all files in its own folder, MiB; default 1024
}

// maxLimit is of each number of Limits.
const maxLimit = 1 << 24

// withDefaults returns l with defaults in the place of zeros, or an error if a number is not possible.
func (l Limits) withDefaults() (Limits, error) {
	l = Limits{cmp.Or(l.Processes, 128), cmp.Or(l.MemoryMB, 8192), cmp.Or(l.OpenFiles, 1024), cmp.Or(l.FileMB, 4096), cmp.Or(l.CPUSeconds, 86400), cmp.Or(l.DiskMB, 1024)}
	if least, most := min(l.Processes, l.MemoryMB, l.OpenFiles, l.FileMB, l.CPUSeconds, l.DiskMB), max(l.Processes, l.MemoryMB, l.OpenFiles, l.FileMB, l.CPUSeconds, l.DiskMB); least < 1 || most > maxLimit {
		return l, fmt.Errorf("limits must be 1 to %d", maxLimit)
	}
	return l, nil
}

// handedOn are the variables of this program that the programs which it starts have, too: where things are, and how
// people write. All others may be secrets.
var handedOn = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP", "LD_LIBRARY_PATH",
	"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX",
	"SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", // of Windows
}

// variables returns the environment of the process: what is handed on of this program's own, and what the
// description says.
func (d *Description) variables() (out []string) {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if slices.Contains(handedOn, strings.ToUpper(name)) || strings.HasPrefix(name, "LC_") || slices.Contains(d.Pass, name) {
			out = append(out, v)
		}
	}
	for name, value := range d.Environment {
		out = append(out, name+"="+value)
	}
	return out
}
