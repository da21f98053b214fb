package envs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
)

// Rollouts has the environments of the rollouts that were imported into a folder
// (docs/rollouts.md). Sets may be added and removed while a server runs. All methods are
// safe for concurrent use.
type Rollouts struct {
	dir string

	mu   sync.Mutex
	sets map[string]keptSet // by path; guarded by mu
}

// A keptSet is a set of rollouts that was opened.
type keptSet struct {
	changed time.Time // its folder, when it was opened
	entry   Entry
}

// NewRollouts returns those of a folder; none if there is no such folder, or dir is empty.
func NewRollouts(dir string) *Rollouts { return &Rollouts{dir: dir} }

// List returns the present environments. A set is opened once, and again when its folder has
// changed. Sets that cannot be read are listed as unavailable, with the reason, and opened again
// the next time. It returns an error of kind Invalid if the folder cannot be read.
func (r *Rollouts) List() (List, error) {
	if r.dir == "" {
		return nil, nil
	}
	paths, err := recordings.List(r.dir)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var out List
	sets := map[string]keptSet{}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil { // it was removed meanwhile
			continue
		}
		set, ok := r.sets[path]
		if !ok || !set.changed.Equal(info.ModTime()) {
			set = keptSet{changed: info.ModTime(), entry: OpenSet(path)}
		}
		if set.entry.Unavailable == nil { // else it may be readable the next time
			sets[path] = set
		}
		out = append(out, set.entry)
	}
	r.sets = sets
	return out, nil
}

// OpenSet returns the environment of the set of rollouts in a folder; it is unavailable if it cannot be read. the environment of a set of rollouts.
func OpenSet(path string) Entry {
	name := filepath.Base(path)
	e := Entry{ID: recordings.IDPrefix + name, Title: name, Description: "Recordings of another simulator."}
	set, err := recordings.Open(path)
	if err != nil {
		e.Unavailable = fmt.Errorf("cannot be used: %w", err)
		return e
	}
	e.Title, e.Description, e.Version = set.Title(), set.Description(), set.Version
	e.New = func(*rand.Rand) idrl.Environment { return set.New() }
	return e
}
