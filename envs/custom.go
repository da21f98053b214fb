package envs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/data/library"
	"tiebreak/internal/idrl"
)

// maxModels is the largest number of models in a folder.
const maxModels = 100

// customPrefix begins the ids of a user's models.
const customPrefix = "own-"

// LoadCustomModels returns the user's models in dir: each JSON file there, or in a
// folder of it, that names an MJCF file (docs/models). A model that is not well
// formed, or that the engine refuses, is listed as unavailable, with what to
// change. It returns an error of kind Invalid if dir cannot be read.
func LoadCustomModels(dir string) (List, error) {
	if dir == "" {
		return nil, nil
	}
	if _, err := os.ReadDir(dir); err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "the folder of models cannot be read: %v", err)
	}
	var paths []string
	for _, pattern := range []string{"*.json", "*/*.json"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, idrl.Errorf(idrl.Invalid, "the folder of models cannot be searched: %v", err)
		}
		paths = append(paths, found...)
	}
	paths = slices.DeleteFunc(paths, mujoco.IsLibrary)
	if len(paths) > maxModels {
		return nil, idrl.Errorf(idrl.Invalid, "%s holds %d models; at most %d can be offered", dir, len(paths), maxModels)
	}
	var out List
	for _, path := range paths {
		e := customModel(path)
		if i := slices.IndexFunc(out, func(o Entry) bool { return o.ID == e.ID }); i >= 0 {
			e.Unavailable = fmt.Errorf("is the name of two models; give %s another name", path)
		}
		out = append(out, e)
	}
	return out, nil
}

// customModel returns the entry of the model described in the file at path.
func customModel(path string) Entry {
	c, err := mujoco.LoadCustom(path)
	if err == nil {
		_, err = c.New()
	}
	if err != nil {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		return Entry{
			ID: customPrefix + name, Title: name, Description: "A model of your own.",
			Unavailable: fmt.Errorf("cannot be used: %w", err),
		}
	}
	return Entry{
		ID: c.ID, Title: c.Title, Description: c.Description, Version: c.Version, Engine: engineName(),
		New:         func(*rand.Rand) idrl.Environment { return must(c.New()) },
		Library:     func() ([]library.Behaviour, error) { return c.Library(mujoco.LibraryPath(path)) },
		LibraryKey:  func() (string, error) { return c.Version, nil },
		LibraryPath: mujoco.LibraryPath(path),
	}
}
