package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"tiebreak/envs"
	shared "tiebreak/internal/base/command"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/rehearsal"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/training"
)

// studyFlags are the flags of simulate for runs of its own.
type studyFlags struct {
	runs, parallel int
	csv, keep      string
	skipIdle       bool
	await          bool
	spec           idrl.SessionSpec

	file     string // of a study to rehearse, or the name of the session; empty: none
	session  string // whose settings are rehearsed; empty: none
	entrants []byte // of an arena
	people   int    // who may take part
	wage     float64
	results  runResults
}

func (f *studyFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.file, "study", "", "YAML `file` of a study to rehearse (docs/study.md): makes sessions with its settings, from consent to the export, and says what\n"+
		"to expect; with --runs 5, --matched, --right 0.8, --pace 3s, --skip-idle and the study's seed unless these are given")
	fs.StringVar(&f.session, "session", "", "`id` of a session or arena of the folder --data whose settings are rehearsed like a --study; the folder is only read")
	fs.IntVar(&f.people, "people", 0, "of a rehearsal: `number` of people who may take part, one after another; default: one, or as many as needed where each has a part")
	fs.Float64Var(&f.wage, "wage", 0, "of a rehearsal: `wage` of an hour, in any currency; 0: the cost is not told")
	fs.IntVar(&f.runs, "runs", 0, "`number` of sessions to make, each with its own seed, and to let a simulated expert answer")
	fs.IntVar(&f.parallel, "parallel", 0, "`number` of runs at a time. They share the processor, so that training takes longer; 0: 1 with --skip-idle alone,\n"+
		"4 with --pace alone, else one for each processor")
	fs.StringVar(&f.csv, "csv", "", "`file` for all comparisons with the truth, such as runs.csv; runs-runs.csv and runs-summary.csv are written next to it")
	fs.StringVar(&f.keep, "keep", "", "`file` of rehearsals, such as those that the form of new sessions shows (docs/study.md): puts the regret of these runs there")
	fs.BoolVar(&f.skipIdle, "skip-idle", false,
		"with --pace: a response time passes in real time while the session trains, and at once while it does not. Generations\n"+
			"arrive after the same answers as in real time, because nothing else happens in the time that is skipped")
	fs.BoolVar(&f.await, "await-training", false,
		"with --skip-idle: each response time lasts until the session trains nothing, as where every training takes less time than an\n"+
			"answer, and each comparison with the truth waits as long; then what a seed gives hardly depends on the machine")
	// The noise is that of the models, and --tie-band, --title and --seed belong to the simulated
	// annotator.
	settings.Declare(fs, &f.spec, "title", "seed", "instructions", "instructions_format", "purpose", "consent", "prior_var", "noise_std", "tie_band", "much_band", "rating_var", "rating_model")
}

// ofStudy are the flags that only --runs uses.
func ofStudy() []string {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	new(studyFlags).declare(fs)
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// checkCombination returns an error unless the flags are for one session of a server, or for runs.
func (f *simulateFlags) checkCombination() error {
	url := f.annotator.Link != ""
	rehearses := f.study.file != "" || f.study.session != ""
	if rehearses && !f.given("runs") {
		f.study.runs = studyRuns
	}
	switch {
	case url && f.given("runs"):
		return fmt.Errorf("%w: --url is for one session and --runs for many; give one of them", errUsage)
	case f.study.file != "" && f.study.session != "":
		return fmt.Errorf("%w: --study and --session both say what to rehearse; give one of them", errUsage)
	case !url && (f.given("people") || f.given("wage")) && !rehearses:
		return fmt.Errorf("%w: --people and --wage need --study or --session", errUsage)
	case !url && !f.given("runs") && !rehearses:
		return fmt.Errorf("%w: --url is missing; give the annotator link that the server printed, or --runs N or --study FILE to make sessions", errUsage)
	case url:
		for _, name := range ofStudy() {
			if f.given(name) {
				return fmt.Errorf("%w: --%s needs --runs; the settings of the session behind --url cannot be changed", errUsage, name)
			}
		}
		return nil
	case f.study.runs < 1:
		return fmt.Errorf("%w: --runs must be at least 1; got %d", errUsage, f.study.runs)
	case f.study.parallel < 0:
		return fmt.Errorf("%w: --parallel must not be negative; got %d", errUsage, f.study.parallel)
	case f.study.skipIdle && f.annotator.Pace == 0 && (!rehearses || f.given("pace")): // a study has a pace
		return fmt.Errorf("%w: --skip-idle needs --pace, the response times that it skips", errUsage)
	case f.study.await && !f.study.skipIdle:
		return fmt.Errorf("%w: --await-training needs --skip-idle", errUsage)
	}
	return nil
}

// parallelRuns returns the number of runs at a time.
func (f *simulateFlags) parallelRuns() int {
	switch {
	case f.study.parallel > 0:
		return f.study.parallel
	case f.study.skipIdle && !f.study.await:
		return 1
	case f.study.await:
		return runtime.NumCPU()
	case f.annotator.Pace > 0:
		return 4
	}
	return runtime.NumCPU()
}

// runStudy does runs, in sessions of its own, and prints a summary. to has them done by workers; nil:
// they are done in this process.
func (f *simulateFlags) runStudy(ctx context.Context, std stdio, list envs.List, to jobs.Starter) (err error) {
	if f.study.file == "" {
		f.study.spec.Title = "Simulated"
	}
	if err := f.checkKeep(); err != nil {
		return err
	}
	if err := checkSpec(list, settings.Complete(f.study.spec)); err != nil && !f.study.spec.IsArena() {
		return usageIfInvalid(err) // before the folder is touched
	}
	if !f.given("every") {
		f.annotator.Every = 1
		if f.study.file != "" {
			f.annotator.Every = max(studyEvery, f.study.spec.Budget/studyLooks)
		}
	}
	if err := f.annotator.Expert.Check(); err != nil {
		return usageIfInvalid(err)
	}
	line := shared.NewProgressLine(std.Err)
	defer line.Clear()
	study := rehearsal.Study{
		Runs: f.study.runs, First: f.annotator.Seed, Parallel: f.parallelRuns(), Settings: f.settings(),
		File: f.study.csv, Progress: line.Show,
	}
	end, err := f.open(ctx, list, line, to, &study)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	if f.study.spec.IsArena() {
		return f.runArena(ctx, std, line, study)
	}
	runs, err := study.Do(ctx)
	line.Clear()
	if len(runs) > 0 {
		if err := f.summarise(std, runs); err != nil {
			return err
		}
		if err := f.printConditions(std.Out, runs); err != nil {
			return err
		}
	}
	if err == nil && f.study.keep != "" {
		err = f.keepRuns(runs)
	}
	if err != nil && f.study.csv != "" {
		fmt.Fprintf(std.Err, "Stopped. %d of %d runs are kept in %s; the same command continues from there.\n", len(runs), f.study.runs, f.study.csv)
	}
	return usageIfInvalid(err)
}

// open gives the study what does its runs; end is called after the last run.
func (f *simulateFlags) open(ctx context.Context, list envs.List, line *progressLine, to jobs.Starter, study *rehearsal.Study) (end func() error, err error) {
	plan := f.plan()
	if to != nil {
		if f.data != "" {
			return nil, fmt.Errorf("%w: the sessions of runs that workers do are not kept: leave out --data", errUsage)
		}
		entry, err := list.Find(plan.Spec.Env)
		if err != nil {
			return nil, err
		}
		plan.Spec.Env = entry.Ref() // so that no worker uses another version of it
		travel, err := training.Elsewhere(list, plan.Spec)
		if err != nil {
			return nil, err
		}
		away := &awayRuns{batch: jobs.NewBatch(to), plan: plan, travel: travel, results: &f.study.results}
		study.Elsewhere = away.run
		if f.study.parallel == 0 {
			study.Parallel = jobs.AtOnce
		}
		return func() error { return nil }, nil
	}
	worker, err := workerCommandLine(f.own.at(f.data))
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(progressLog{line}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	server := &studyServer{plan: plan}
	if err := server.start(ctx, f.data, func() envs.List { return list }, log, worker); err != nil {
		return nil, err
	}
	study.Elsewhere = server.into(&f.study.results)
	return server.close, nil
}

// into returns what does the run of a seed on the server, and keeps its result.
func (s *studyServer) into(results *runResults) func(ctx context.Context, seed uint64, heard func(given int)) (rehearsal.Run, error) {
	return func(ctx context.Context, seed uint64, heard func(given int)) (rehearsal.Run, error) {
		r, err := s.rehearse(ctx, seed, heard)
		if err == nil {
			results.put(r)
		}
		return r.Run, err
	}
}

// runArena does the runs of an arena, in which nothing is compared with a true reward, and prints what is expected of it.
func (f *simulateFlags) runArena(ctx context.Context, std stdio, line *progressLine, study rehearsal.Study) error {
	var runs []rehearsal.Run
	for i := range study.Runs {
		line.Show(fmt.Sprintf("%d of %d runs", i, study.Runs))
		r, err := study.Elsewhere(ctx, study.First+uint64(i), func(int) {})
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	line.Clear()
	return f.expected(runs).Write(std.Out)
}

func (f *simulateFlags) summarise(std stdio, runs []rehearsal.Run) error {
	figures := rehearsal.Figures(runs)
	if f.study.csv != "" {
		if err := rehearsal.WriteSummary(f.study.csv, figures); err != nil {
			return err
		}
		fmt.Fprintf(std.Out, "Written to %s, %s and %s.\n", f.study.csv, rehearsal.RunsFile(f.study.csv), rehearsal.SummaryFile(f.study.csv))
	}
	if err := rehearsal.PrintSummary(std.Out, runs, figures); err != nil {
		return err
	}
	if f.study.file != "" {
		return f.expected(runs).Write(std.Out)
	}
	return nil
}

// A runPlan holds the settings that all runs of a command share: everything that a worker must know except
// the seed. It has only plain values.
type runPlan struct {
	Spec                  idrl.SessionSpec // without seed and title
	Answers, Every        int              // as in rehearsal.Config, like what follows
	Expert                rehearsal.Expert
	Pace, Pause, Patience time.Duration
	SkipIdle              bool // response times pass at once while the session does not train
	Await                 bool // and last until it does not
	Timed                 bool // the runs are of a study: the time of the answers is measured, and people practise
	People, Each          int  // as in rehearsal.Config
	Entrants              []byte
}

// plan returns that of the runs of the command.
func (f *simulateFlags) plan() runPlan {
	a, each := f.annotator, 0
	if people := f.study.people; people > 1 && f.study.spec.AnswersEach == 0 {
		each = (f.study.spec.Budget + people - 1) / people
	}
	return runPlan{
		People: f.study.people, Each: each, Entrants: f.study.entrants,
		Spec: f.study.spec, Answers: a.Answers, Every: a.Every, Expert: a.Expert, Pace: a.Pace, Pause: a.Pause, Patience: a.Patience,
		SkipIdle: f.study.skipIdle, Await: f.study.await, Timed: f.study.file != "",
	}
}
