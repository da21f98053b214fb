package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/base/record"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/rehearsal"
	"tiebreak/internal/lab/seeing"
	"tiebreak/internal/session"
	"tiebreak/internal/train/elsewhere/byflags"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/training"
	"tiebreak/store"
)

// simulateFlags are the flags of simulate.
type simulateFlags struct {
	own       own
	data      string
	annotator rehearsal.Config
	study     studyFlags
	away      byflags.Carriers
	set       *flag.FlagSet // all of these; nil: none is given
}

func (f *simulateFlags) declare(fs *flag.FlagSet) {
	f.set = fs
	a, e := &f.annotator, &f.annotator.Expert
	fs.StringVar(&a.Link, "url", "", "annotator `link` of a session")
	ownFlags(fs, &f.own)
	fs.IntVar(&a.Answers, "answers", 30, "`number` of answers to give")
	fs.BoolVar(&e.Matched, "matched", false,
		"draw the true reward from the session's prior and answer by the session's likelihood, so that the page's probabilities should be right;\n"+
			"needs --data or --runs")
	fs.Float64Var(&e.Right, "right", 0, "with --matched: `share` of random pairs of the first clips that the person is right about, in place of the noise that the\n"+
		"session assumes, which is 0.83 to 0.96 by environment (docs/methods.md, section 2.3)")
	fs.StringVar(&e.Kind, "expert", rehearsal.Experts()[0], "kind of expert, unless --matched: "+strings.Join(rehearsal.Experts(), ", "))
	fs.Uint64Var(&a.Seed, "seed", 1, "`seed` of the expert's true reward and of its answers")
	fs.Float64Var(&e.Temperature, "temperature", 0.1, "noise of a bradley-terry, tie-band or b-pref expert, relative to the range of rewards")
	fs.Float64Var(&e.NoiseStd, "noise", 0.1, "standard deviation of the noise of ratings, and of a numeric expert's comparisons, on a scale from -1 to 1")
	fs.Float64Var(&e.TieBand, "tie-band", 0, "largest difference that a perfect, tie-band or b-pref expert calls equal, relative to the range of rewards")
	fs.Float64Var(&e.Mistake, "mistake", 0, "`probability` that a b-pref or seeing expert gives the opposite answer; seeing: 0.1 if not given")
	fs.StringVar(&e.Taste, "taste", "", "what a seeing expert likes, by `name`: "+tasteNames()+"; default: the environment's first")
	fs.Float64Var(&e.Threshold, "threshold", seeing.DefaultThreshold,
		"difference of two clips that a seeing expert sees in half of the cases: below 1 clips look alike to everybody, from 2 on they\n"+
			"differ at a glance; 0: overlooks nothing, and never says \"can't tell\"")
	fs.Float64Var(&e.SkipBelow, "skip-below", 0, "a b-pref expert skips the question if both clips have less than this true `return`")
	fs.DurationVar(&a.Patience, "patience", 5*time.Minute, "how long to keep trying while the server is away or cannot store answers")
	fs.StringVar(&f.data, "data", "", "data `folder` of the server, on this machine, to compare the recommended policy with the true reward; it is only read.\n"+
		"With --runs: where to keep the sessions; a temporary folder if not given")
	fs.IntVar(&a.Every, "every", 0, "with --data, also compare every N `answers`; 1: after each; with --runs 1 if not given")
	fs.DurationVar(&a.Pause, "pause", 0, "fixed `time` before each answer, such as 500ms")
	fs.DurationVar(&a.Pace, "pace", 0,
		"median of response times that vary as people's do, such as 3s (log-normal; 95 % are between a third and three times it), so that\n"+
			"new candidates arrive as many answers late as with a person; 0: answer at once. A seeing expert takes three times as long over\n"+
			"what is hard to see as over what is easy")
	f.study.declare(fs)
	f.away.Declare(fs)
	f.away.DeclareReplicas(fs)
}

func simulateCommand() command {
	return shared.With(command{
		Name: "simulate", Summary: "let a simulated expert answer a running server, or many sessions of its own", Usage: "--url LINK | --runs N | --study FILE [flags]",
		About: "With --url it joins a session by its annotator link and answers through the same websocket as a\n" +
			"browser, by a true reward drawn from the seed. Use it to rehearse a study. It prints the true reward at\n" +
			"the end and, with --data, the true return of the recommended policy next to the statement of the\n" +
			"session's page. --expert seeing has no true reward: it answers by what the clips show, like a person who overlooks\n" +
			"small differences. It waits while the server restarts, and answers no question twice.\n\n" +
			"With --runs N it runs a server of its own and does that in N sessions, with the seeds from --seed on. A\n" +
			"summary says how large the true regret was, and how often the page's statements were right. --csv keeps every\n" +
			"comparison; the same command continues where it was stopped. --env, --kind and the other flags of\n" +
			"'tiebreak session' are the settings of the sessions. docs/simulate.md explains all numbers.\n\n" +
			"With --nats or --folder the runs are done by workers on other machines ('tiebreak worker'), with the same results.\n\n" +
			"With --study FILE it rehearses a study: it makes sessions with the settings of the file and estimates how many answers\n" +
			"and hours of people the study takes, with intervals.",
		Example: "tiebreak simulate --url http://127.0.0.1:8080/join/TOKEN --answers 30 --expert bradley-terry --seed 7\n" +
			"  tiebreak simulate --url http://127.0.0.1:8080/join/TOKEN --data tiebreak-data --matched --every 1 --pace 3s\n" +
			"  tiebreak simulate --runs 20 --env gridworld --matched --pace 3s --skip-idle --csv gridworld.csv",
	}, (*simulateFlags).declare, runSimulate)
}

// given reports whether a flag is on the command line.
func (f *simulateFlags) given(name string) bool { return f.set != nil && shared.Given(f.set, name) }

func runSimulate(ctx context.Context, std stdio, f *simulateFlags) (err error) {
	if !f.away.Any() {
		return f.simulate(ctx, std, nil)
	}
	if !f.given("runs") && f.study.file == "" && f.study.session == "" {
		return fmt.Errorf("%w: --nats and --folder have runs done on other machines: they need --runs or --study", errUsage)
	}
	say := func(text string) { fmt.Fprintln(std.Err, text) }
	pool, end, err := f.away.Pool(ctx, say, slog.New(slog.NewTextHandler(std.Err, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	return f.simulate(ctx, std, pool)
}

// simulate is the command. to has the runs of --runs and --study done by workers; nil: they are done
// in this process.
func (f *simulateFlags) simulate(ctx context.Context, std stdio, to jobs.Starter) error {
	if err := f.checkCombination(); err != nil {
		return err
	}
	if f.annotator.Expert.Kind == rehearsal.Seeing && !f.given("mistake") {
		f.annotator.Expert.Mistake = seeing.DefaultMistake
	}
	list, err := environments(f.own.at(f.data))
	if err != nil {
		return err
	}
	if err := f.readStudy(ctx, list); err != nil {
		return err
	}
	if f.study.runs > 0 {
		return f.runStudy(ctx, std, list, to)
	}
	cfg := f.annotator
	cfg.Out = std.Out
	cfg.NewEnv = func(spec idrl.SessionSpec) (idrl.Environment, error) { return training.Environment(list, spec) }
	if f.data != "" {
		data := &stored{envs: list, dir: f.data}
		defer data.close()
		cfg.Data = data
	}
	a, err := rehearsal.New(cfg)
	if err != nil {
		return usageIfInvalid(err)
	}
	defer a.Close()
	return a.Run(ctx)
}

// usageIfInvalid marks an error of kind Invalid as one in the command line.
func usageIfInvalid(err error) error {
	if idrl.KindOf(err) == idrl.Invalid {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	return err
}

// tasteNames lists the names of the tastes of simulated people who see.
func tasteNames() string {
	var names []string
	for _, t := range seeing.Tastes() {
		if !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
	}
	return strings.Join(names, ", ")
}

// stored reads the data folder dir, which a server may be using.
type stored struct {
	envs envs.List
	dir  string
	db   *store.DB // nil before the first Record
}

// Record implements rehearsal.Data.
func (s *stored) Record(ctx context.Context, id idrl.SessionID) (record.Record, error) {
	if s.db == nil {
		db, err := store.OpenReadOnly(ctx, s.dir)
		if err != nil {
			return record.Record{}, fmt.Errorf("%s: %w", s.dir, err)
		}
		s.db = db
	}
	return s.db.Load(ctx, id)
}

// Config implements rehearsal.Data, for a record of Record.
func (s *stored) Config(rec record.Record) (session.Config, error) {
	cfg, err := sessionConfig(s.envs, rec)
	cfg.Journal = s.db // the raw steps that learnt features need
	return cfg, err
}

// PolicyClips implements rehearsal.Data, after a Record.
func (s *stored) PolicyClips(ctx context.Context, id idrl.SessionID, clip idrl.ClipID) ([][]byte, error) {
	return s.db.PolicyClips(ctx, id, clip)
}

func (s *stored) close() {
	if s.db != nil {
		_ = s.db.Close() // it was only read
	}
}
