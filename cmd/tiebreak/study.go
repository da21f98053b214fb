package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/rehearsal"
	"tiebreak/internal/session"
	"tiebreak/internal/session/view"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/training"
)

// studyFlags are the flags of simulate for runs of its own.
type studyFlags struct {
	runs, parallel int
	csv, keep      string
	skipIdle       bool
	spec           idrl.SessionSpec

	file    string // of a study to rehearse; empty: none
	people  int    // answers per annotator in the study; 0: no limit
	watches stopwatches
}

func (f *studyFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.file, "study", "", "YAML `file` of a study to rehearse (docs/study.md): makes sessions with its settings and estimates the number of answers and hours;\n"+
		"with --runs 5, --pace 3s, --skip-idle and the study's seed unless these are given")
	fs.IntVar(&f.runs, "runs", 0, "`number` of sessions to make, each with its own seed, and to let a simulated expert answer")
	fs.IntVar(&f.parallel, "parallel", 0, "`number` of runs at a time. They share the processor, so that training takes longer; 0: 1 with --skip-idle,\n"+
		"4 with --pace alone, else one for each processor")
	fs.StringVar(&f.csv, "csv", "", "`file` for all comparisons with the truth, such as runs.csv; runs-runs.csv and runs-summary.csv are written next to it")
	fs.StringVar(&f.keep, "keep", "", "`file` of rehearsals, such as those that the form of new sessions shows (docs/study.md): puts the regret of these runs there")
	fs.BoolVar(&f.skipIdle, "skip-idle", false,
		"with --pace: a response time passes in real time while the session trains, and at once while it does not. Generations\n"+
			"arrive after the same answers as in real time, because nothing else happens in the time that is skipped")
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
	if f.study.file != "" && !f.given("runs") {
		f.study.runs = studyRuns
	}
	switch {
	case url && f.given("runs"):
		return fmt.Errorf("%w: --url is for one session and --runs for many; give one of them", errUsage)
	case !url && !f.given("runs") && f.study.file == "":
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
	case f.study.skipIdle && f.annotator.Pace == 0 && (f.study.file == "" || f.given("pace")): // a study has a pace
		return fmt.Errorf("%w: --skip-idle needs --pace, the response times that it skips", errUsage)
	}
	return nil
}

// parallelRuns returns the number of runs at a time.
func (f *simulateFlags) parallelRuns() int {
	switch {
	case f.study.parallel > 0:
		return f.study.parallel
	case f.study.skipIdle:
		return 1
	case f.annotator.Pace > 0:
		return 4
	}
	return runtime.NumCPU()
}

// runStudy does runs, in sessions of its own, and prints a summary. to has them done by workers; nil:
// they are done in this process.
func (f *simulateFlags) runStudy(ctx context.Context, std stdio, list envs.List, to jobs.Starter) (err error) {
	f.study.spec.Title = "Simulated"
	if err := f.checkKeep(); err != nil {
		return err
	}
	if err := checkSpec(list, settings.Complete(f.study.spec)); err != nil {
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
	scores, end, err := f.open(ctx, list, line, to, &study)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	runs, err := study.Do(ctx)
	line.Clear()
	if len(runs) > 0 {
		if err := f.summarise(std, runs); err != nil {
			return err
		}
		if err := f.printConditions(ctx, std.Out, runs, scores); err != nil {
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

// open gives the study what does its runs. scores returns how well the conditions of a run predict,
// nothing for a run of an earlier command; end is called after the last run.
func (f *simulateFlags) open(ctx context.Context, list envs.List, line *progressLine, to jobs.Starter, study *rehearsal.Study) (scores scorer, end func() error, err error) {
	plan := f.plan()
	if to != nil {
		if f.data != "" {
			return nil, nil, fmt.Errorf("%w: the sessions of runs that workers do are not kept: leave out --data", errUsage)
		}
		entry, err := list.Find(plan.Spec.Env)
		if err != nil {
			return nil, nil, err
		}
		plan.Spec.Env = entry.Ref() // so that no worker uses another version of it
		travel, err := training.Elsewhere(list, plan.Spec)
		if err != nil {
			return nil, nil, err
		}
		away := &awayRuns{batch: jobs.NewBatch(to), plan: plan, travel: travel, watches: &f.study.watches, scores: map[uint64][]view.ConditionScores{}}
		study.Elsewhere = away.run
		if f.study.parallel == 0 {
			study.Parallel = jobs.AtOnce
		}
		return away.scored, func() error { return nil }, nil
	}
	worker, err := workerCommandLine(f.own.at(f.data))
	if err != nil {
		return nil, nil, err
	}
	log := slog.New(slog.NewTextHandler(progressLog{line}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	server := &studyServer{plan: plan, watches: &f.study.watches}
	if err := server.start(ctx, f.data, func() envs.List { return list }, log, worker); err != nil {
		return nil, nil, err
	}
	study.Open = server.open
	return server.scores, server.close, nil
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
		f.study.printExpected(std, runs, f.annotator.Pace)
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
	Timed                 bool // the time of the answers is measured
}

// plan returns that of the runs of the command.
func (f *simulateFlags) plan() runPlan {
	a := f.annotator
	return runPlan{
		Spec: f.study.spec, Answers: a.Answers, Every: a.Every, Expert: a.Expert, Pace: a.Pace, Pause: a.Pause, Patience: a.Patience,
		SkipIdle: f.study.skipIdle, Timed: f.study.file != "",
	}
}

// A studyServer is the server of runs, in this process.
type studyServer struct {
	plan    runPlan
	watches *stopwatches // of runs whose time is measured

	app  *app
	base string

	temporary string // folder to remove; empty if the data are kept
	stop      context.CancelFunc
	stopped   chan error // of listening
}

// start starts the server, in a data folder dir; empty: in a temporary folder. worker is the command
// line of its workers, as that of openApp. The caller must close the server unless there is an error.
func (s *studyServer) start(ctx context.Context, dir string, list func() envs.List, log *slog.Logger, worker []string) (err error) {
	defer func() {
		if err != nil && s.temporary != "" {
			err = errors.Join(err, os.RemoveAll(s.temporary))
		}
	}()
	if dir == "" {
		if dir, err = os.MkdirTemp("", "tiebreak-simulate"); err != nil {
			return err
		}
		s.temporary = dir
	}
	const addr = "127.0.0.1:0"
	ln, err := listen(ctx, addr, false, stdio{})
	if err != nil {
		return err
	}
	at, err := siteOf(addr, ln.Addr(), "")
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	if s.app, err = openApp(ctx, dir, list, at, log, worker...); err != nil {
		return errors.Join(err, ln.Close())
	}
	s.base, s.stopped = at.base, make(chan error, 1)
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx)) // annotators stop before it
	go func() { s.stopped <- s.app.listen(ctx, ln) }()
	return nil
}

// progressLog writes the lines of a log above a progress line.
type progressLog struct{ line *progressLine }

// Write implements io.Writer.
func (s progressLog) Write(b []byte) (int, error) {
	s.line.Say("%s", strings.TrimSuffix(string(b), "\n"))
	return len(b), nil
}

// close stops the server.
func (s *studyServer) close() error {
	s.stop()
	err := errors.Join(<-s.stopped, s.app.close())
	if s.temporary != "" {
		err = errors.Join(err, os.RemoveAll(s.temporary))
	}
	return err
}

// open makes the session of a seed. It is the Open of a rehearsal.Study.
func (s *studyServer) open(ctx context.Context, seed uint64) (rehearsal.Config, error) {
	spec, p := s.plan.Spec, s.plan
	spec.Seed, spec.Title = seed, fmt.Sprintf("Simulated, seed %d", seed)
	spec, err := newSession(ctx, s.app.db, s.app.envs(), spec)
	if err != nil {
		return rehearsal.Config{}, err
	}
	token, err := s.app.auth.NewInvitation(ctx, spec.ID, linkUses, linkLife)
	if err != nil {
		return rehearsal.Config{}, err
	}
	cfg := rehearsal.Config{
		Link: s.base + "/join/" + token, Seed: seed, Data: s, Answers: p.Answers, Every: p.Every, Expert: p.Expert,
		Pace: p.Pace, Pause: p.Pause, Patience: p.Patience,
		NewEnv: func(spec idrl.SessionSpec) (idrl.Environment, error) { return training.Environment(s.app.envs(), spec) },
	}
	if p.SkipIdle {
		cfg.Clock = rehearsal.SkipIdle{
			Training: func(ctx context.Context) (bool, error) { return s.training(ctx, spec.ID) },
			Changes: func(notify func()) func() {
				return s.app.hub.Subscribe(spec.ID, func(live.Event) { notify() })
			},
		}
	}
	if p.Timed {
		cfg.Clock = s.watches.start(seed, cfg.Clock)
	}
	return cfg, nil
}

// training reports whether a session is still training after recent answers. It starts such a
// training before it serves another request.
func (s *studyServer) training(ctx context.Context, id idrl.SessionID) (bool, error) {
	sess, err := s.app.manager.Session(ctx, id)
	if err != nil {
		return false, err
	}
	st, err := sess.Status(ctx)
	return st.Training.Running && !st.Training.FollowUp, err
}

// Record implements rehearsal.Data.
func (s *studyServer) Record(ctx context.Context, id idrl.SessionID) (record.Record, error) {
	return s.app.db.Load(ctx, id)
}

// Config implements rehearsal.Data.
func (s *studyServer) Config(rec record.Record) (session.Config, error) {
	cfg, err := sessionConfig(s.app.envs(), rec)
	cfg.Journal = s.app.db
	return cfg, err
}

// PolicyClips implements rehearsal.Data.
func (s *studyServer) PolicyClips(ctx context.Context, id idrl.SessionID, clip idrl.ClipID) ([][]byte, error) {
	return s.app.db.PolicyClips(ctx, id, clip)
}

var _ rehearsal.Data = (*studyServer)(nil)
