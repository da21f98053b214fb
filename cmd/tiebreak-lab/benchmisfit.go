package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"tiebreak/internal/base/command"
	"tiebreak/internal/lab/statements"
)

// benchMisfitFlags are the flags of bench misfit.
type benchMisfitFlags struct {
	worlds, people string
	seeds, answers int
	first          uint64
}

func (f *benchMisfitFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.worlds, "worlds", "gridworld,driver", "`names` of worlds, those of bench statements, and of robots, separated by commas")
	fs.StringVar(&f.people, "people", "matched,lapses,hidden", "`names` of people, those of bench statements, and tastes about robots such as taste:limp, separated by commas")
	fs.IntVar(&f.seeds, "seeds", 100, "`number` of sessions of each cell")
	fs.Uint64Var(&f.first, "first-seed", 9901, "first `seed`; seeds are consecutive")
	fs.IntVar(&f.answers, "answers", 60, "`answers` of a session")
}

func benchMisfitCommand() command.Command {
	return command.With(command.Command{
		Name: "bench misfit", Summary: "count the alarms that the features of a session do not tell what people judge by", Usage: "[flags]",
		About: "Simulated people answer sessions. It prints a row of a table in Markdown for each pair of a world and people: in how\n" +
			"many sessions the page said, after all answers, that the answers follow something that the features do not tell; and\n" +
			"in how many a test says so that knows which features are hidden, and their prior: a bound of what answers can tell.\n" +
			"Sessions have the default settings, but train after every tenth answer, and sessions on robots ask about the library\n" +
			"alone. Intervals are 95 % (Wilson).",
		Example: "tiebreak-lab bench misfit --worlds half-cheetah --people matched,taste:limp --seeds 20",
	}, (*benchMisfitFlags).declare, runBenchMisfit)
}

func runBenchMisfit(ctx context.Context, io command.IO, f *benchMisfitFlags) (err error) {
	if f.seeds < 1 || f.answers < 1 {
		return fmt.Errorf("%w: --seeds and --answers must be at least 1", command.ErrUsage)
	}
	folder, err := os.MkdirTemp("", "tiebreak-lab")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	fmt.Fprintln(io.Out, statements.TestedHead)
	for world := range strings.SplitSeq(f.worlds, ",") {
		for people := range strings.SplitSeq(f.people, ",") {
			t, err := statements.NewTrial(ctx, world, people, folder)
			if err != nil {
				return err
			}
			var done []statements.Tested
			for i := range f.seeds {
				one, err := t.Do(ctx, f.first+uint64(i), f.answers)
				if err != nil {
					return fmt.Errorf("%s, %s, seed %d: %w", world, people, f.first+uint64(i), err)
				}
				done = append(done, one)
			}
			statements.WriteTested(io.Out, t, done)
		}
	}
	return nil
}
