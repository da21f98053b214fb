package mujoco

import (
	"embed"
	"fmt"
	"sync"

	"tiebreak/envs/mujoco/engine"
)

// files are the project's own models. Those in classic have the masses and
// inertias that MuJoCo before 2.1.1 gave to capsules, for comparison with results
// of its time (docs/mujoco.md, section 2).
//
//go:embed models
var files embed.FS

// cache holds compiled models by file, which environments share.
var cache struct {
	sync.Mutex // guards byFile
	byFile     map[string]*engine.Model
}

// model returns the compiled model of a file of models.
func model(file string) (*engine.Model, error) {
	cache.Lock()
	defer cache.Unlock()
	if m := cache.byFile[file]; m != nil {
		return m, nil
	}
	xml, err := files.ReadFile("models/" + file)
	if err != nil {
		return nil, err
	}
	m, err := engine.Load(xml)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", file, err)
	}
	if cache.byFile == nil {
		cache.byFile = map[string]*engine.Model{}
	}
	cache.byFile[file] = m
	return m, nil
}
