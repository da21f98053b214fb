package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"tiebreak/envs"
	"tiebreak/envs/mujoco"
	"tiebreak/internal/behaviour"
	"tiebreak/internal/idrl"
	"tiebreak/internal/librarian"
	"tiebreak/internal/library"
	"tiebreak/internal/rng"
)

func libraryCommand() command {
	return command{
		name: "library", summary: "make the library of behaviours that sessions on a robot show first", usage: "ROBOT [flags]",
		about: "Finds behaviours of a robot that differ from one another in the picture, and writes them to a file: gaits\n" +
			"by novelty, gaits for either end of each feature, and what only training finds. The robots that come with the\n" +
			"program have one built in. For a model of your own the file goes beside it, where sessions find it until\n" +
			"the model changes. It takes seconds to half an hour; what was learnt is kept if it is interrupted.",
		example: "tiebreak library own-cart --models models",
		flags:   func(fs *flag.FlagSet) { new(libraryFlags).declare(fs) },
		run:     runLibrary,
	}
}

type libraryFlags struct {
	models, out, policies string
	workers               int
	ends                  bool
}

func (f *libraryFlags) declare(fs *flag.FlagSet) {
	modelsFlag(fs, &f.models)
	fs.StringVar(&f.out, "out", "", "`folder` for the file; default: beside a model of your own, else library")
	fs.StringVar(&f.policies, "policies", "", "`NAME=FILE,...` of policies of soft actor-critic that were trained elsewhere, in place of what would be learnt under these names")
	fs.BoolVar(&f.ends, "ends", true, "search for either end of each feature where the robot's recipe does; most of the time goes into that")
	fs.IntVar(&f.workers, "workers", runtime.NumCPU(), "episodes run at a time; it does not change the result")
}

func runLibrary(ctx context.Context, io stdio, args []string) error {
	var f libraryFlags
	flags := flag.NewFlagSet("library", flag.ContinueOnError)
	f.declare(flags)
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return fmt.Errorf("%w: name a robot", errUsage)
	}
	if err := parse(flags, args[1:]); err != nil {
		return err
	}
	list, err := environments(f.models)
	if err != nil {
		return err
	}
	entry, err := list.Find(args[0])
	if err != nil {
		return err
	}
	if entry.LibraryKey == nil {
		return idrl.Errorf(idrl.Invalid, "environment %q is no robot: its first questions need no library", entry.ID)
	}
	roomForC()
	return f.make(ctx, io, entry)
}

// path returns where the library goes.
func (f *libraryFlags) path(entry envs.Entry) string {
	switch {
	case f.out == "" && entry.LibraryPath != "":
		return entry.LibraryPath
	case entry.LibraryPath != "":
		return filepath.Join(f.out, filepath.Base(entry.LibraryPath))
	case f.out == "":
		return filepath.Join("library", entry.ID+".json")
	}
	return filepath.Join(f.out, entry.ID+".json")
}

func (f *libraryFlags) make(ctx context.Context, io stdio, entry envs.Entry) error {
	key, err := entry.LibraryKey()
	if err != nil {
		return err
	}
	path := f.path(entry)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	part := &learntPart{path: path + ".part", File: library.File{Robot: entry.ID, Key: key, Engine: mujoco.Version()}}
	known, err := f.known(path, part)
	if err != nil {
		return err
	}
	b := librarian.Builder{
		Recipe: librarian.RecipeFor(entry.ID), Workers: f.workers, Known: known, Learnt: part.add,
		NewEnv:   func() idrl.Environment { return entry.New(rng.New(0, "layout", 0)) },
		Progress: func(done, total int, what string) { fmt.Fprintf(io.err, "%d of %d: %s\n", done+1, total, what) },
	}
	if !f.ends {
		b.Ends = []string{}
	}
	if b.Fixed, err = fixed(entry.ID); err != nil {
		return err
	}
	out := part.File
	if out.Behaviours, err = b.Build(ctx); err != nil {
		return err
	}
	if part.err != nil {
		return part.err
	}
	data, err := out.Encode()
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	if err := os.Remove(part.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fmt.Fprintf(io.out, "%s: %d behaviours, %d bytes\n", path, len(out.Behaviours), len(data))
	return nil
}

// A learntPart keeps what was learnt until the library is there.
type learntPart struct {
	library.File
	path string
	err  error
}

func (p *learntPart) add(name string, params []float64) {
	f := p.File
	f.Behaviours = append(f.Behaviours, idrl.Behaviour{Name: name, Params: params})
	p.File.Behaviours = f.Behaviours
	data, err := f.Encode()
	if err == nil {
		err = os.WriteFile(p.path, data, 0o644)
	}
	p.err = errors.Join(p.err, err)
}

// known returns what was learnt before, by name: in an interrupted run, in the library that
// is there already, and elsewhere.
func (f *libraryFlags) known(path string, part *learntPart) (map[string][]float64, error) {
	out := map[string][]float64{}
	for _, p := range []string{path, part.path} {
		data, err := os.ReadFile(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		file, err := library.Find(data, part.Robot, part.Key)
		if err != nil {
			continue // of another model: it is made anew
		}
		for _, b := range file.Behaviours {
			out[b.Name] = b.Params
		}
	}
	for pair := range strings.SplitSeq(f.policies, ",") {
		if pair == "" {
			continue
		}
		name, file, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("%w: --policies takes NAME=FILE,...; got %q", errUsage, pair)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var p struct{ Params []float64 }
		if err := json.Unmarshal(data, &p); err != nil {
			return nil, idrl.Errorf(idrl.Invalid, "%s holds no policy: %v", file, err)
		}
		out[name] = behaviour.Network.Params(p.Params)
	}
	return out, nil
}

// fixed returns the behaviours of a robot that the project has trained for other uses.
func fixed(env string) ([]idrl.Behaviour, error) {
	named := map[string]string{mujoco.SwimmerCorridorID: mujoco.SwimmerExplorer, mujoco.AntCorridorID: mujoco.AntExplorer}
	name, ok := named[env]
	if !ok {
		return nil, nil
	}
	gait, err := mujoco.FindGait(name)
	if err != nil {
		return nil, err
	}
	params, err := gait.Params()
	out := []idrl.Behaviour{{Name: "along the corridor", Params: behaviour.Linear.Params(params)}}
	if env != mujoco.AntCorridorID {
		return out, err
	}
	for k, way := range []string{"to the left", "forward", "to the right", "backward", "standing"} {
		p := make([]float64, 1+3*5)
		p[1+3*k] = 1 // of the largest number of a high-level action
		out = append(out, idrl.Behaviour{Name: way, Params: behaviour.Gait.Params(p)})
	}
	return out, err
}
