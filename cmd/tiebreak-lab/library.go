package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"tiebreak/envs"
	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/command"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/data/library"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/librarian"
)

func libraryCommand() command.Command {
	return command.With(command.Command{
		Name: "library", Summary: "make the library of behaviours from which sessions on a robot take their first clips", Usage: "ROBOT [flags]",
		About: "Finds behaviours of a robot that look different, and writes them to a file: gaits by novelty, gaits with a\n" +
			"large or a small value of each feature, and behaviours that need training. The robots of the program have a\n" +
			"library built in. The file for a model of your own is written next to the model, where sessions find it until\n" +
			"the model changes. It takes seconds to minutes, and gives the same file every time.",
		Example: "tiebreak-lab library own-cart --models models",
	}, (*libraryFlags).declare, runLibrary)
}

type libraryFlags struct {
	robot   string
	models  string // folder of the user's own models
	out     string
	workers int
	ends    bool
}

func (f *libraryFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.models, "models", os.Getenv("TIEBREAK_MODELS"), "`folder` with MuJoCo models of your own (see docs/models)")
	fs.StringVar(&f.out, "out", "", "`folder` for the file; default: next to a model of your own, else library")
	fs.BoolVar(&f.ends, "ends", true, "search for large and small values of each feature, if the robot's recipe does; this takes most of the time")
	fs.IntVar(&f.workers, "workers", runtime.NumCPU(), "episodes run at a time; it does not change the result")
}

// Words takes the robot from before the flags.
func (f *libraryFlags) Words(args []string) (rest []string, err error) {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return nil, fmt.Errorf("%w: name a robot", command.ErrUsage)
	}
	f.robot = args[0]
	return args[1:], nil
}

func runLibrary(ctx context.Context, io command.IO, f *libraryFlags) error {
	custom, err := envs.LoadCustomModels(f.models)
	if err != nil {
		return err
	}
	entry, err := slices.Concat(envs.Catalogue(), custom).Find(f.robot)
	if err != nil {
		return err
	}
	if entry.LibraryKey == nil {
		return idrl.Errorf(idrl.Invalid, "environment %q is not a robot: its first questions need no library", entry.ID)
	}
	roomForC()
	return f.make(ctx, io, entry)
}

// path returns the path of the library.
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

func (f *libraryFlags) make(ctx context.Context, io command.IO, entry envs.Entry) error {
	key, err := entry.LibraryKey()
	if err != nil {
		return err
	}
	path := f.path(entry)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	b := librarian.Builder{
		Recipe: librarian.RecipeFor(entry.ID), Workers: f.workers,
		NewEnv:   func() idrl.Environment { return entry.New(rng.New(0, "layout", 0)) },
		Progress: func(done, total int, what string) { fmt.Fprintf(io.Err, "%d of %d: %s\n", done+1, total, what) },
	}
	if !f.ends {
		b.Ends = []string{}
	}
	out := library.File{Robot: entry.ID, Key: key, Engine: mujoco.Version()}
	if out.Recipe, err = b.Key(); err != nil {
		return err
	}
	if out.Behaviours, err = b.Build(ctx); err != nil {
		return err
	}
	data, err := out.Encode()
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(io.Out, "%s: %d behaviours, %d bytes\n", path, len(out.Behaviours), len(data))
	return nil
}
