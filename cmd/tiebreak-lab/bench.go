package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"tiebreak/internal/base/command"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/report"
	"tiebreak/internal/lab/experiment/seeds"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/train/elsewhere/byflags"
	"tiebreak/internal/train/jobs"
)

// benchFlags are the flags of bench.
type benchFlags struct {
	out, mode, schedule, queries, walls, candidates, expert, methods, clips string
	seeds, answers, measure, workers                                        int
	first                                                                   uint64
	right                                                                   float64

	away byflags.Carriers

	figure string        // or what else to run
	set    *flag.FlagSet // all of these
}

func (f *benchFlags) declare(fs *flag.FlagSet) {
	f.set = fs
	fs.StringVar(&f.out, "out", "bench", "`folder` for the report, the tables and plots, and the finished runs")
	fs.StringVar(&f.mode, "mode", experiment.Corrected, "`corrected`: as in the paper's text; paper: as in the authors' code")
	fs.StringVar(&f.schedule, "schedule", experiment.PaperSchedule, "`when` candidates are trained: paper, after every answer; live, as in a session\nwith clips, three questions ahead and trainings during the answers; slow, as live, but\na training takes as long as three answers; crowd, with 1 to 16 annotators at once, for comparison")
	fs.StringVar(&f.queries, "queries", "", "`type` of question: state or comparison; default: all types of the figure")
	fs.StringVar(&f.walls, "walls", "", "walls of gridworlds: `text` or code; default: as in the mode")
	fs.StringVar(&f.candidates, "candidates", "", "candidate questions: `text` or code; default: as in the mode")
	fs.StringVar(&f.expert, "expert", "", "`expert` who answers: paper (by the paper's model) or people (as noisy as people); default: the figure's first")
	fs.Float64Var(&f.right, "right", 0, rightWords+"; 0: 0.9 where the expert is people")
	fs.StringVar(&f.clips, "clips-from", idrl.FoundClips, "which `clips` questions are about under the schedule of a session: found, those of policies; made, also clips\nthat are made for the questions of methods that choose them, in tabular environments")
	fs.StringVar(&f.methods, "methods", "", "`names` of methods, separated by commas; default: those of the figure")
	fs.IntVar(&f.seeds, "seeds", 30, "`number` of paired seeds")
	fs.Uint64Var(&f.first, "first-seed", 1, "first `seed`; seeds are consecutive")
	fs.IntVar(&f.answers, "answers", 0, "`answers` of a run; 0: the figure's own number")
	fs.IntVar(&f.measure, "measure", 0, "evaluate the regret every N `answers`, at the start and at the end; 0: the figure's own number")
	fs.IntVar(&f.workers, "workers", runtime.NumCPU(), "seeds computed in parallel, and episodes of each search in a corridor; results do not depend on it")
	f.away.Declare(fs)
	f.away.DeclareReplicas(fs)
}

// rightWords say what the noise of people is measured by.
const rightWords = "`share` of random pairs of the first clips about which people are right: how noisy they are"

func figureNames() (names []string) {
	for _, f := range experiment.Figures() {
		names = append(names, f.Name)
	}
	return names
}

// paperFigures returns the names of the paper's figures, those that take long or the others.
func paperFigures(long bool) (names []string) {
	for _, f := range experiment.Figures() {
		if !f.Extra && f.Long == long {
			names = append(names, f.Name)
		}
	}
	return names
}

func benchCommand() command.Command {
	return command.With(command.Command{
		Name: "bench", Summary: "compare query strategies with simulated experts, without a server", Usage: "FIGURE|all|corridor|suite|TASK.json [flags]",
		About: "Repeats the paper's experiments with simulated experts and writes learning curves of several query\n" +
			"strategies on the same instances and answers: a page (report.html), tables, plots, and paired tests.\n" +
			"With --mode paper the curves of the authors' code are shown beside ours. Finished runs are kept in the\n" +
			"folder; the same command continues a run that was stopped.",
		Lists: figuresAndMethods,
		Example: "tiebreak-lab bench chain\n" +
			"  tiebreak-lab bench gridworld --queries state --methods idrl,uniform --seeds 100 --out gridworld\n" +
			"  tiebreak-lab bench all --mode paper --out paper\n" +
			"  tiebreak-lab bench swimmer-corridor --methods idrl:20,uniform --seeds 5",
		Subs: []command.Command{benchDeepCommand(), benchTeachCommand(), benchQuestionsCommand(), benchAskingCommand(), benchStatementsCommand(), benchMisfitCommand()},
	}, (*benchFlags).declare, runBench)
}

// figuresAndMethods lists the figures and methods. MuJoCo is loaded to find out which figures can
// be run.
func figuresAndMethods() string {
	var b strings.Builder
	b.WriteString("Figures (all: those of the paper that take minutes):\n")
	for _, f := range experiment.Figures() {
		fmt.Fprintf(&b, "  %-16s %s; questions: %s%s\n", f.Name, f.Title, strings.Join(f.Queries, ", "), remark(f))
	}
	fmt.Fprintf(&b, "  %-16s both corridors: the paper's table of IDRL with 20, 4, 2 and 1 updates of its candidates\n", experiment.CorridorName)
	fmt.Fprintf(&b, "  %-16s the suite for evaluating new methods: chain, gridworld and garnet, answers as noisy as people's\n", experiment.SuiteName)
	b.WriteString("\nMethods:\n")
	for _, m := range acquisition.Methods() {
		fmt.Fprintf(&b, "  %-10s %s\n", m.Name, m.About)
	}
	return strings.TrimRight(b.String(), "\n")
}

// remark describes the special properties of a figure.
func remark(f experiment.Figure) string {
	switch {
	case f.Available() != nil:
		return " (takes hours, and needs a program that was built with MuJoCo)"
	case f.Long:
		return " (takes hours)"
	case f.Extra:
		return " (not in the paper)"
	default:
		return ""
	}
}

// Words takes the figure from before the flags, or what else there is to run.
func (f *benchFlags) Words(args []string) (rest []string, err error) {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return nil, fmt.Errorf("%w: name a figure: %s, all, %s or %s", command.ErrUsage, strings.Join(figureNames(), ", "), experiment.CorridorName, experiment.SuiteName)
	}
	f.figure = args[0]
	return args[1:], nil
}

func runBench(ctx context.Context, io command.IO, f *benchFlags) (err error) {
	if !f.away.Any() {
		return f.bench(ctx, io, nil)
	}
	say := func(text string) { fmt.Fprintln(io.Err, text) }
	pool, end, err := f.away.Pool(ctx, say, slog.New(slog.NewTextHandler(io.Err, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	return f.bench(ctx, io, pool)
}

// bench is the command. to has the runs computed by workers; nil: they are computed in this process.
func (f *benchFlags) bench(ctx context.Context, io command.IO, to jobs.Starter) error {
	plan, err := f.plan(f.figure)
	if err != nil {
		if idrl.KindOf(err) == idrl.Invalid {
			return fmt.Errorf("%w: %w", command.ErrUsage, err)
		}
		return err
	}
	for _, note := range plan.notes {
		fmt.Fprintln(io.Err, note)
	}
	roomForC()
	return f.execute(ctx, io, plan.experiments, benchLine(f.figure, f.set), to)
}

// benchLine returns the command line that gives the same results: without the flags that do not
// change them, and with the defaults that may change.
func benchLine(figure string, fs *flag.FlagSet) string {
	given := map[string]bool{"seeds": true, "first-seed": true, "mode": true}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	given["out"], given["workers"] = false, false
	for _, carrier := range []string{"nats", "credentials", "folder", "folder-shared", "nats-replicas"} {
		given[carrier] = false
	}
	line := "tiebreak-lab bench " + figure
	fs.VisitAll(func(f *flag.Flag) { // in the order of their names
		if v := f.Value.String(); given[f.Name] && v != "" {
			line += " --" + f.Name + " " + v
		}
	})
	return line
}

// execute runs the experiments, by to as bench says, and writes the results.
func (f benchFlags) execute(ctx context.Context, io command.IO, es []experiment.Experiment, typed string, to jobs.Starter) error {
	runs, line := filepath.Join(f.out, "runs"), command.NewProgressLine(io.Err)
	defer line.Clear()
	store := report.FolderStore(runs, func(s string) { line.Say("%s", s) })
	tracker := report.NewTracker(store, es, time.Now)
	if p := tracker.Progress(); p.Kept > 0 {
		line.Say("%d of %d runs were computed earlier and are kept in %s.", p.Kept, p.Total, runs)
	}
	options := experiment.Options{Workers: f.workers, Store: tracker, Cache: filepath.Join(f.out, "cache")}
	if to != nil {
		options.Workers, options.Elsewhere = jobs.AtOnce, seeds.By(jobs.NewBatch(to))
	}
	do := func(e experiment.Experiment) (experiment.Result, error) {
		o := options
		o.Progress, o.Preparing, o.Answered = countRuns(line, e, tracker), reportPreparation(line, e), reportAnswers(line, e, tracker)
		r, err := experiment.Do(ctx, e, o)
		if p := tracker.Progress(); err != nil && ctx.Err() != nil {
			line.Say("Stopped. %d of %d runs are kept in %s; the same command continues from there.", p.Kept+p.Made, p.Total, runs)
		}
		return r, err
	}
	if len(es) > 1 {
		for _, e := range tracker.Firsts(es, f.workers) {
			if _, err := do(e); err != nil {
				return err
			}
		}
	}
	var results []experiment.Result
	for _, e := range es {
		r, err := do(e)
		if err != nil {
			return err
		}
		if err := report.Write(f.out, r); err != nil {
			return err
		}
		results = append(results, r)
		line.Clear()
		fmt.Fprintf(io.Out, "%s: written to %s\n", e.Name(), filepath.Join(f.out, e.Name()))
	}
	if err := report.WritePage(f.out, typed, results); err != nil {
		return err
	}
	fmt.Fprintf(io.Out, "Report: %s\n", filepath.Join(f.out, "report.html"))
	return nil
}

// countRuns reports the progress of an experiment and the time of all remaining runs.
func countRuns(line *command.ProgressLine, e experiment.Experiment, tracker *report.Tracker) idrl.Progress {
	return func(_, _ int, what string) {
		if p := tracker.Progress(); p.Made > 0 { // and not only earlier runs
			line.Show(fmt.Sprintf("%s; %s (%s)", says(p), e.Name(), what))
		}
	}
}

// says returns the progress of runs, and the remaining time once it is known.
func says(p report.Progress) string {
	text := fmt.Sprintf("%d of %d runs", p.Kept+p.Made, p.Total)
	switch {
	case p.Untimed == 1:
		text += ", the time of one method is not known yet"
	case p.Untimed > 1:
		text += fmt.Sprintf(", times of %d methods are not known yet", p.Untimed)
	case p.Left > 0:
		text += ", about " + roughly(p.Left) + " left"
	}
	return text
}

// reportPreparation reports the progress of the preparation of an experiment.
func reportPreparation(line *command.ProgressLine, e experiment.Experiment) idrl.Progress {
	return func(_, _ int, what string) { // only then is there a total
		line.Show(e.Name() + ": preparing: " + what)
	}
}

// reportAnswers reports the progress of a long run.
func reportAnswers(line *command.ProgressLine, e experiment.Experiment, tracker *report.Tracker) idrl.Progress {
	return func(_, _ int, what string) { // only then is there a total
		line.Show(fmt.Sprintf("%s; %s: %s", says(tracker.Progress()), e.Name(), what))
	}
}

// roughly rounds a duration to the precision of an estimate.
func roughly(d time.Duration) string {
	if d < 10*time.Minute {
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
