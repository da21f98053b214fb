package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"

	"tiebreak/internal/base/command"
	"tiebreak/internal/lab/statements"
)

// benchStatementsFlags are the flags of bench statements.
type benchStatementsFlags struct {
	worlds, people, csv     string
	seeds, workers, answers int
	first                   uint64
}

func (f *benchStatementsFlags) declare(fs *flag.FlagSet) {
	var worlds, people []string
	for _, w := range statements.Worlds() {
		if !w.MuJoCo {
			worlds = append(worlds, w.Name)
		}
	}
	for _, k := range statements.Kinds() {
		people = append(people, k.Name)
	}
	fs.StringVar(&f.worlds, "worlds", strings.Join(worlds, ","), "`names` of worlds, separated by commas")
	fs.StringVar(&f.people, "people", strings.Join(people, ","), "`names` of people, separated by commas")
	fs.IntVar(&f.seeds, "seeds", 20, "`number` of seeds of each cell")
	fs.Uint64Var(&f.first, "first-seed", 1, "first `seed`; seeds are consecutive")
	fs.IntVar(&f.answers, "answers", 40, "`answers` of a session")
	fs.IntVar(&f.workers, "workers", runtime.NumCPU(), "sessions at a time; results do not depend on it")
	fs.StringVar(&f.csv, "csv", "", "`file` to which every moment is added; sessions that it has are not done again")
}

func benchStatementsCommand() command.Command {
	var about strings.Builder
	about.WriteString("Simulated people answer sessions with a known true reward. After each answer it compares what the session's\n" +
		"page states with the truth, and prints rows of a table in Markdown for each pair of a world and people: the share of\n" +
		"statements that are withheld by an objection, how often the bound of 95 % covers the true regret, how often a statement\n" +
		"of 90 % and more is right, the mean regret, and how often \"you can stop\" was right. Intervals are 95 %, by a bootstrap over\n" +
		"sessions. Sessions have the default settings; they train after every answer. Sessions with a reward network state no\n" +
		"regret, so that there is no world with learnt features; half-cheetah is left out unless it is named.\n\nWorlds:\n")
	for _, w := range statements.Worlds() {
		fmt.Fprintf(&about, "  %-15s %s\n", w.Name, w.About)
	}
	about.WriteString("\nPeople:\n")
	for _, k := range statements.Kinds() {
		fmt.Fprintf(&about, "  %-15s %s\n", k.Name, k.About)
	}
	return command.With(command.Command{
		Name: "bench statements", Summary: "compare what sessions state of themselves with the truth", Usage: "[flags]",
		About:   strings.TrimRight(about.String(), "\n"),
		Example: "tiebreak-lab bench statements --worlds gridworld --people matched,mistakes --seeds 100 --csv said.csv",
	}, (*benchStatementsFlags).declare, runBenchStatements)
}

// statedAfter are the numbers of answers that have rows of their own.
var statedAfter = []int{5, 10, 20, 40}

func runBenchStatements(ctx context.Context, io command.IO, f *benchStatementsFlags) (err error) {
	if f.seeds < 1 || f.workers < 1 || f.answers < 1 {
		return fmt.Errorf("%w: --seeds, --workers and --answers must be at least 1", command.ErrUsage)
	}
	var kept []statements.Run
	if f.csv != "" {
		if kept, err = statements.Read(f.csv, f.answers); err != nil {
			return err
		}
	}
	folder, err := os.MkdirTemp("", "tiebreak-lab")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	fmt.Fprintln(io.Out, statements.Head)
	for world := range strings.SplitSeq(f.worlds, ",") {
		w, err := statements.FindWorld(ctx, world, folder)
		if err != nil {
			return err
		}
		for people := range strings.SplitSeq(f.people, ",") {
			k, err := statements.FindKind(people)
			if err != nil {
				return err
			}
			if err := f.cell(ctx, io, w, k, kept); err != nil {
				return err
			}
		}
	}
	return nil
}

// cell does the sessions of a cell that are not kept, and prints its rows.
func (f *benchStatementsFlags) cell(ctx context.Context, io command.IO, w statements.World, k statements.Kind, kept []statements.Run) error {
	have := map[uint64]statements.Run{}
	for _, r := range kept {
		if r.World == w.Name && r.People == k.Name {
			have[r.Seed] = r
		}
	}
	before, err := cpuTime()
	if err != nil {
		return err
	}
	runs, err := statements.All(ctx, w, k, f.first, f.seeds, f.answers, f.workers, have)
	if err != nil {
		return err
	}
	after, err := cpuTime()
	if err != nil {
		return err
	}
	var made []statements.Run
	for _, r := range runs {
		if _, ok := have[r.Seed]; !ok {
			made = append(made, r)
		}
	}
	if f.csv != "" && len(made) > 0 {
		if err := statements.Append(f.csv, made); err != nil {
			return err
		}
	}
	statements.WriteCell(io.Out, runs, statedAfter)
	fmt.Fprintf(io.Err, "%s, %s: %.1f s of processor time, %.2f s a session\n", w.Name, k.Name, (after - before).Seconds(), (after-before).Seconds()/float64(max(1, len(made))))
	return nil
}
