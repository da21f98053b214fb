package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"tiebreak/internal/base/command"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/report"
)

// benchAskingFlags are the flags of bench asking.
type benchAskingFlags struct {
	worlds         string
	seeds, workers int
	first          uint64
	seconds        float64
}

func (f *benchAskingFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.worlds, "worlds", strings.Join(experiment.AskingWorlds(), ","), "`names` of worlds, separated by commas")
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
	return command.Command{
		Name: "bench asking", Summary: "compare ways of asking at equal time of a person", Usage: "[flags]",
		About:   strings.TrimRight(about.String(), "\n"),
		Example: "tiebreak-lab bench asking --worlds driver --seeds 100",
		Flags:   func(fs *flag.FlagSet) { new(benchAskingFlags).declare(fs) },
		Run:     runBenchAsking,
	}
}

func runBenchAsking(ctx context.Context, io command.IO, args []string) error {
	var f benchAskingFlags
	fs := flag.NewFlagSet("bench asking", flag.ContinueOnError)
	f.declare(fs)
	if err := command.Parse(fs, args); err != nil {
		return err
	}
	if f.seeds < 1 || f.workers < 1 || !(f.seconds > 0 && f.seconds <= 1e5) {
		return fmt.Errorf("%w: --seeds, --workers and --seconds must be positive, the last at most 100000", command.ErrUsage)
	}
	for _, world := range strings.Split(f.worlds, ",") {
		sat, err := f.runWays(ctx, world)
		if err != nil {
			return err
		}
		writeAsking(io.Out, world, f.seconds, sat)
	}
	return nil
}

// runWays returns the results of each seed, by way of asking.
func (f *benchAskingFlags) runWays(ctx context.Context, world string) ([][]experiment.Sitting, error) {
	out, errs := make([][]experiment.Sitting, f.seeds), make([]error, f.seeds)
	var wg sync.WaitGroup
	next := make(chan int)
	for range f.workers {
		wg.Go(func() {
			for i := range next { // a session of plain comparisons may last this much longer, to find the duration at which another way is equally good
				out[i], errs[i] = experiment.Ask(ctx, world, experiment.Ways(), f.first+uint64(i), 2*f.seconds)
			}
		})
	}
	for i := range f.seeds {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// writeAsking writes the table of a world.
func writeAsking(w io.Writer, world string, seconds float64, sat [][]experiment.Sitting) {
	fmt.Fprintf(w, "\n**%s**, %d seeds, %v s each:\n\n", world, len(sat), seconds)
	fmt.Fprintln(w, "| way | answers | regret over the time | against plain [95 % interval] | regret at the end | equal to plain at |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|")
	plain := areas(sat, 0, seconds, 1)
	for k, way := range experiment.Ways() {
		area, diff := areas(sat, k, seconds, 1), make([]float64, len(sat))
		for i := range diff {
			diff[i] = (area[i] - plain[i]) / mean(plain)
		}
		against := "–"
		if k > 0 {
			ci := report.Bootstrap(diff, rng.New(1, "asking "+world+way.Name, 0))
			against = fmt.Sprintf("%+.1f %% [%+.1f, %+.1f]", 100*mean(diff), 100*ci[0], 100*ci[1])
		}
		fmt.Fprintf(w, "| %s | %.0f | %.4g | %s | %.4g | %.1f s |\n", way.Name, answersIn(sat, k, seconds), mean(area), against,
			ends(sat, k, seconds), breakEven(sat, k, seconds))
	}
}

// areas returns the mean regret over the time of each seed, in way k.
func areas(sat [][]experiment.Sitting, k int, seconds, stretch float64) (out []float64) {
	for _, s := range sat {
		out = append(out, s[k].Area(seconds, stretch))
	}
	return out
}

// breakEven returns the mean duration of an answer, in seconds, at which way k has the same regret over
// the time as plain comparisons.
func breakEven(sat [][]experiment.Sitting, k int, seconds float64) float64 {
	plain, lo, hi := mean(areas(sat, 0, seconds, 1)), 0.5, 4.0
	for range 40 {
		if s := (lo + hi) / 2; mean(areas(sat, k, seconds, s)) < plain {
			lo = s
		} else {
			hi = s
		}
	}
	return lo * each(sat, k)
}

// each returns the mean duration of an answer in way k.
func each(sat [][]experiment.Sitting, k int) float64 {
	var all []float64
	for _, s := range sat {
		all = append(all, s[k].Seconds...)
	}
	return mean(all)
}

// answersIn returns the mean number of answers within the time, and the mean regret at its end.
func answersIn(sat [][]experiment.Sitting, k int, seconds float64) float64 {
	n := 0.0
	for _, s := range sat {
		n += float64(s[k].Within(seconds)) / float64(len(sat))
	}
	return n
}

func ends(sat [][]experiment.Sitting, k int, seconds float64) float64 {
	sum := 0.0
	for _, s := range sat {
		sum += s[k].Regret[s[k].Within(seconds)] / float64(len(sat))
	}
	return sum
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(1, len(v)))
}
