package envs

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"tiebreak/internal/idrl"
	"tiebreak/internal/recordings"
)

// LoadRollouts returns environments of the rollouts that were imported into a folder
// (docs/rollouts.md); none if there is no such folder. Those that cannot be read are listed as
// unavailable, with the reason.
func LoadRollouts(dir string) (List, error) {
	if dir == "" {
		return nil, nil
	}
	paths, err := recordings.List(dir)
	if err != nil {
		return nil, err
	}
	var out List
	for _, path := range paths {
		name := filepath.Base(path)
		e := Entry{ID: recordings.IDPrefix + name, Title: name, Description: "Recordings of another simulator."}
		set, err := recordings.Open(path)
		if err != nil {
			e.Unavailable = fmt.Errorf("cannot be used: %w", err)
		} else {
			e.Title, e.Description, e.Version = set.Title(), set.Description(), set.Version
			e.New = func(*rand.Rand) idrl.Environment { return set.New() }
		}
		out = append(out, e)
	}
	return out, nil
}
