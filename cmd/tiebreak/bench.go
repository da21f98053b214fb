package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"tiebreak/internal/experiment"
	"tiebreak/internal/idrl"
)

// benchFlags are the flags of bench.
type benchFlags struct {
	out            string
	seeds, answers int
	first          uint64
	workers        int
}

func (f *benchFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.out, "out", "bench", "`folder` for the tables and plots")
	fs.IntVar(&f.seeds, "seeds", 30, "`number` of paired seeds")
	fs.Uint64Var(&f.first, "first-seed", 1, "the seeds are this `one` and those after it")
	fs.IntVar(&f.answers, "answers", 0, "`answers` of a run; 0: the setting's own number")
	fs.IntVar(&f.workers, "workers", runtime.NumCPU(), "seeds run at a time; it does not change the result")
}

func settingNames() (names []string) {
	for _, s := range experiment.Settings() {
		names = append(names, s.Name)
	}
	return names
}

func benchCommand() command {
	return command{
		name: "bench", summary: "compare query strategies with simulated experts, without a server", usage: "SETTING|all [flags]",
		about: "Runs the engine with simulated experts and writes learning curves of IDRL and of uniformly random\n" +
			"questions on the same instances and answers: CSV tables, plots, and the paired difference with its\n" +
			"interval. Settings: " + strings.Join(settingNames(), ", ") + ".",
		example: "tiebreak bench gridworld --seeds 100 --out learning",
		flags:   func(fs *flag.FlagSet) { new(benchFlags).declare(fs) },
		run:     runBench,
	}
}

func runBench(ctx context.Context, io stdio, args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return fmt.Errorf("%w: name a setting: %s or all", errUsage, strings.Join(settingNames(), ", "))
	}
	var f benchFlags
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.declare(fs)
	if err := parse(fs, args[1:]); err != nil {
		return err
	}
	settings := args[:1]
	if args[0] == "all" {
		settings = settingNames()
	}
	for _, name := range settings {
		cfg := experiment.Config{Setting: name, Seeds: f.seeds, FirstSeed: f.first, Answers: f.answers, Workers: f.workers}
		res, err := experiment.Run(ctx, cfg, progressLine(io, name))
		if err != nil {
			if idrl.KindOf(err) == idrl.Invalid {
				return fmt.Errorf("%w: %w", errUsage, err)
			}
			return err
		}
		if err := experiment.Write(filepath.Join(f.out, name), res); err != nil {
			return err
		}
		fmt.Fprintf(io.out, "\r%s: written to %s\n", name, filepath.Join(f.out, name))
	}
	return nil
}

// progressLine reports how far a setting is and how long it will still take.
func progressLine(io stdio, name string) idrl.Progress {
	began := time.Now()
	return func(done, total int, what string) {
		left := time.Duration(float64(time.Since(began)) / float64(max(1, done)) * float64(total-done)).Round(time.Second)
		fmt.Fprintf(io.err, "\r%s: %d of %d (%s), about %v left   ", name, done, total, what, left)
	}
}
