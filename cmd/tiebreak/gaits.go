package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/lab/gaits"
)

func gaitsCommand() command {
	return command{
		name: "gaits", summary: "train again the policies that the MuJoCo corridors build on", usage: "[NAME...] [flags]", hidden: true,
		about: "Trains the gaits of Ant-Corridor and the exploration policies of both corridors from nothing, and writes\n" +
			"a file for each: a function of the models, the settings and the seed. The program has the files of\n" +
			"envs/mujoco/gaits built in and says so if they do not fit its models any more. A name is one of\n" +
			gaitNames() + "; all of them if none is given. It takes up to an hour.",
		example: "tiebreak gaits --out envs/mujoco/gaits",
		flags:   func(fs *flag.FlagSet) { new(gaitFlags).declare(fs) },
		run:     runGaits,
	}
}

type gaitFlags struct {
	out     string
	workers int
}

func (f *gaitFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.out, "out", "gaits", "`folder` for the files")
	fs.IntVar(&f.workers, "workers", runtime.NumCPU(), "episodes run at a time; it does not change the result")
}

func gaitNames() string {
	var names []string
	for _, g := range mujoco.Gaits() {
		names = append(names, g.Name)
	}
	return strings.Join(names, ", ")
}

func runGaits(ctx context.Context, io stdio, args []string) error {
	var f gaitFlags
	fs := flag.NewFlagSet("gaits", flag.ContinueOnError)
	f.declare(fs)
	var chosen []mujoco.Gait
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		g, err := mujoco.FindGait(args[0])
		if err != nil {
			return fmt.Errorf("%w: %w", errUsage, err)
		}
		chosen, args = append(chosen, g), args[1:]
	}
	if err := parse(fs, args); err != nil {
		return err
	}
	roomForC()
	if chosen == nil {
		chosen = mujoco.Gaits()
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	for _, g := range chosen {
		b, err := gaits.Train(ctx, g, f.workers, func(done, total int, what string) {
			fmt.Fprintf(io.err, "%d of %d iterations, %s\n", done, total, what)
		})
		if err != nil {
			return err
		}
		path := filepath.Join(f.out, g.Name+".json")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			return err
		}
		fmt.Fprintln(io.out, path)
	}
	return nil
}
