package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"tiebreak/internal/base/command"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/experiment/deep"
	"tiebreak/internal/lab/experiment/report"
	"tiebreak/internal/learn/neural"
)

func benchDeepCommand() command.Command {
	return command.With(command.Command{
		Name: "bench deep", Summary: "repeat the paper's last figure: networks and soft actor-critic on robots", Usage: "[flags]",
		About: "Repeats the paper's deep experiment: a reward network learns from comparisons of clips while soft\n" +
			"actor-critic trains a policy on its rewards, and candidate policies say which comparisons to ask. It\n" +
			"writes curves of the normalised score (0: random actions, 100: trained on the true reward) against\n" +
			"comparisons and against steps: a page (report.html), tables and plots. The small budget takes one to\n" +
			"two minutes of a core a run; there are TASKS × METHODS × SEEDS runs, and four references a task. Finished runs\n" +
			"are kept in the folder; the same command continues where it was stopped. Needs MuJoCo.",
		Example: "tiebreak-lab bench deep --tasks inverted-pendulum --methods idrl,uniform --seeds 2 --steps 20000 --every 2000",
	}, (*deepFlags).declare, runBenchDeep)
}

// deepFlags are the flags of bench deep.
type deepFlags struct {
	out, mode, tasks, methods, budget    string
	seeds, labels, steps, every, workers int
	first                                uint64
	set                                  *flag.FlagSet // all of these
}

func (f *deepFlags) declare(fs *flag.FlagSet) {
	f.set = fs
	fs.StringVar(&f.out, "out", "bench-deep", "`folder` for the report, the tables and plots, and the finished runs")
	fs.StringVar(&f.mode, "mode", string(neural.Corrected), "`corrected`: as in the paper's text; anchored: the same with the reward network of live sessions; paper: as in the authors' code")
	fs.StringVar(&f.tasks, "tasks", "half-cheetah,hopper,swimmer,reacher,inverted-pendulum", "`names` of robots, separated by commas, or all")
	fs.StringVar(&f.methods, "methods", strings.Join(deep.Methods(), ","), "`names` of methods, separated by commas; NAME:main asks about the main policy's rollouts alone")
	fs.StringVar(&f.budget, "budget", deep.Small().Name, "`small`: 300 comparisons, 100,000 steps, small networks; paper: 1,400 and 10,000,000")
	fs.IntVar(&f.labels, "labels", 0, "`comparisons` of a run; 0: those of the budget")
	fs.IntVar(&f.steps, "steps", 0, "`steps` of the main policy; 0: those of the budget")
	fs.IntVar(&f.every, "every", 0, "`steps` from one batch of questions to the next, and of a candidate at a time; 0: those of the budget")
	fs.IntVar(&f.seeds, "seeds", 5, "`number` of paired seeds")
	fs.Uint64Var(&f.first, "first-seed", 1, "first `seed`; seeds are consecutive")
	fs.IntVar(&f.workers, "workers", runtime.NumCPU(), "runs at a time; results do not depend on it")
}

// plan returns the plan for the flags, or an error of kind Invalid.
func (f *deepFlags) plan() (deep.Plan, error) {
	b, err := deep.FindBudget(f.budget)
	if err != nil {
		return deep.Plan{}, err
	}
	if f.workers < 1 {
		return deep.Plan{}, idrl.Errorf(idrl.Invalid, "workers must be at least 1; got %d", f.workers)
	}
	if f.labels != 0 {
		b.Labels = f.labels
	}
	if f.steps != 0 {
		b.Steps = f.steps
	}
	if f.every != 0 {
		b.CandidateSteps = b.CandidateSteps / b.Every * f.every
		b.Every = f.every
	}
	p := deep.Plan{Tasks: strings.Split(f.tasks, ","), Methods: strings.Split(f.methods, ","), Mode: neural.Mode(f.mode), Budget: b, Seeds: f.seeds, FirstSeed: f.first}
	if f.tasks == "all" {
		p.Tasks = deep.Tasks()
	}
	return p, p.Validate()
}

func runBenchDeep(ctx context.Context, io command.IO, f *deepFlags) error {
	plan, err := f.plan()
	if err != nil {
		if idrl.KindOf(err) == idrl.Invalid {
			return fmt.Errorf("%w: %w", command.ErrUsage, err)
		}
		return err
	}
	roomForC()
	runs, line := filepath.Join(f.out, "runs"), command.NewProgressLine(io.Err)
	defer line.Clear()
	made := 0
	result, err := deep.Do(ctx, plan, deep.Options{
		Workers: f.workers, Now: time.Now,
		Store: report.DeepStore{Folder: report.FolderStore(runs, func(s string) { line.Say("%s", s) })},
		Progress: func(done, total int, c deep.Config, at deep.Point) {
			made = done
			line.Show(fmt.Sprintf("%d of %d runs; %s, %s, seed %d: %d comparisons, %d of %d steps, return %.4g",
				done, total, c.Task, c.Method, c.Seed, at.Labels, at.Steps, c.Budget.Steps, at.Return))
		},
	})
	if err != nil {
		if ctx.Err() != nil {
			line.Say("Stopped. %d of %d runs are kept in %s; the same command continues from there.", made, len(plan.Configs()), runs)
		}
		return err
	}
	line.Clear()
	if err := report.WriteDeep(f.out, benchLine("deep", f.set), result); err != nil {
		return err
	}
	fmt.Fprintf(io.Out, "Report: %s\n", filepath.Join(f.out, "report.html"))
	return nil
}
