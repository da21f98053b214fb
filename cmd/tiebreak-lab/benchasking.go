package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"strings"

	"tiebreak/internal/base/command"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/report"
)

// benchAskingFlags are the flags of bench asking.
type benchAskingFlags struct {
	worlds, ways   string
	seeds, workers int
	first          uint64
	seconds, right float64
}

func (f *benchAskingFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.worlds, "worlds", strings.Join(experiment.AskingWorlds(), ","), "`names` of worlds, separated by commas")
	fs.StringVar(&f.ways, "ways", "", "`names` of ways, separated by semicolons, the first of which the others are compared with; default: all")
	fs.Float64Var(&f.right, "right", stats.UsualRight, rightWords)
	fs.IntVar(&f.seeds, "seeds", 40, "`number` of paired seeds")
	fs.Uint64Var(&f.first, "first-seed", 1001, "first `seed`; seeds are consecutive")
	fs.Float64Var(&f.seconds, "seconds", 120, "`seconds` for which a person answers")
	fs.IntVar(&f.workers, "workers", runtime.NumCPU(), "seeds computed in parallel; results do not depend on it")
}

func benchAskingCommand() command.Command {
	var about strings.Builder
	about.WriteString("Simulated people answer sessions with several ways of asking, for the same number of seconds, with a known\n" +
		"true reward. It prints the mean regret over that time, as a table in Markdown: docs/ways-of-asking.md.\n\nWays:\n")
	for _, w := range experiment.Ways() {
		fmt.Fprintf(&about, "  %-21s %s\n", w.Name, w.About)
	}
	return command.With(command.Command{
		Name: "bench asking", Summary: "compare ways of asking at equal time of a person", Usage: "[flags]",
		About:   strings.TrimRight(about.String(), "\n"),
		Example: "tiebreak-lab bench asking --worlds driver --seeds 100",
	}, (*benchAskingFlags).declare, runBenchAsking)
}

func runBenchAsking(ctx context.Context, io command.IO, f *benchAskingFlags) error {
	if f.seeds < 1 || f.workers < 1 || !(f.seconds > 0 && f.seconds <= 1e5) {
		return fmt.Errorf("%w: --seeds, --workers and --seconds must be positive, --seconds at most 100000", command.ErrUsage)
	}
	var names []string
	if f.ways != "" {
		names = strings.Split(f.ways, ";")
	}
	ways, err := experiment.FindWays(names)
	if err != nil {
		return err
	}
	for _, world := range strings.Split(f.worlds, ",") {
		sat, err := experiment.AskAll(ctx, world, ways, f.first, f.seeds, f.seconds, f.right, f.workers)
		if err != nil {
			return err
		}
		report.WriteAsking(io.Out, world, ways, f.seconds, sat)
	}
	return nil
}
