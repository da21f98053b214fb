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
	"tiebreak/internal/base/command"
	"tiebreak/internal/lab/gaits"
)

func gaitsCommand() command.Command {
	return command.With(command.Command{
		Name: "gaits", Summary: "train the policies that the MuJoCo corridors build on", Usage: "[NAME...] [flags]", Hidden: true,
		About: "Trains the gaits of Ant-Corridor and the exploration policies of both corridors from the beginning, and writes\n" +
			"a file for each, which depends only on the models, the settings and the seed. The program has the files of\n" +
			"envs/mujoco/gaits built in, and reports if they do not fit its models any more. A name is one of\n" +
			gaitNames() + "; all of them if none is given. It takes up to an hour.",
		Example: "tiebreak-lab gaits --out envs/mujoco/gaits",
	}, (*gaitFlags).declare, runGaits)
}

type gaitFlags struct {
	out     string
	workers int
	chosen  []mujoco.Gait // none: all
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

// Words takes the names of gaits from before the flags.
func (f *gaitFlags) Words(args []string) (rest []string, err error) {
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		g, err := mujoco.FindGait(args[0])
		if err != nil {
			return nil, fmt.Errorf("%w: %w", command.ErrUsage, err)
		}
		f.chosen, args = append(f.chosen, g), args[1:]
	}
	return args, nil
}

func runGaits(ctx context.Context, io command.IO, f *gaitFlags) error {
	roomForC()
	if f.chosen == nil {
		f.chosen = mujoco.Gaits()
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	for _, g := range f.chosen {
		b, err := gaits.Train(ctx, g, f.workers, func(done, total int, what string) {
			fmt.Fprintf(io.Err, "%d of %d iterations, %s\n", done, total, what)
		})
		if err != nil {
			return err
		}
		path := filepath.Join(f.out, g.Name+".json")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			return err
		}
		fmt.Fprintln(io.Out, path)
	}
	return nil
}
