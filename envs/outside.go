package envs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"tiebreak/internal/data/outside"
	"tiebreak/internal/idrl"
)

// maxOutside is the largest number of outside environments.
const maxOutside = 20

// LoadOutside returns the outside environments that are described by the JSON file at path, or
// by those in the folder there (docs/outside.md). It starts each once and asks what it is. One
// whose description is not well formed, or whose program does not work, is listed as
// unavailable, with what to change. It returns an error of kind Invalid if path cannot be
// read. launcher is Description.Launcher of each; network says that they may use the network.
func LoadOutside(path, launcher string, network bool) (List, error) {
	if path == "" {
		return nil, nil
	}
	paths := []string{path}
	info, err := os.Stat(path)
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "the outside environments cannot be read: %v", err)
	}
	if info.IsDir() {
		if paths, err = filepath.Glob(filepath.Join(path, "*.json")); err != nil {
			return nil, idrl.Errorf(idrl.Invalid, "the folder of outside environments cannot be searched: %v", err)
		}
		slices.Sort(paths)
	}
	if len(paths) > maxOutside {
		return nil, idrl.Errorf(idrl.Invalid, "%s holds %d outside environments; at most %d can be offered", path, len(paths), maxOutside)
	}
	out := make(List, len(paths))
	walls := sync.OnceValue(func() string { return outside.WithoutWalls(outside.Missing(launcher, network)) })
	var all sync.WaitGroup
	for i, path := range paths {
		all.Go(func() { out[i] = outsideEntry(path, launcher, network, walls) })
	}
	all.Wait()
	return out, nil
}

// outsideEntry returns the entry of the outside environment described in the file at path.
func outsideEntry(path, launcher string, network bool, walls func() string) Entry {
	name := strings.TrimSuffix(filepath.Base(path), ".json")
	e := Entry{ID: outside.IDPrefix + name, Title: name, Description: "An environment of your own, in a program of its own."}
	d, err := outside.Read(path)
	var p *outside.Program
	if err == nil {
		if d.Title != "" {
			e.Title = d.Title
		}
		d.Launcher, d.Network = launcher, network
		if len(d.Command) > 0 {
			e.Uncaged = walls()
		}
		p, err = outside.Load(d)
	}
	if err != nil {
		e.Unavailable = fmt.Errorf("cannot be used: %w", err)
		return e
	}
	for _, s := range []string{p.Hello.Title, p.Title} {
		if s != "" {
			e.Title = s
		}
	}
	for _, s := range []string{p.Hello.About, p.About} {
		if s != "" {
			e.Description = s
		}
	}
	e.Version = p.Version
	e.New = func(*rand.Rand) idrl.Environment { return p.New() }
	return e
}
