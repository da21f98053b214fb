package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/base/command"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/rehearsal"
	"tiebreak/internal/lab/seeing"
	"tiebreak/internal/look/questions"
	"tiebreak/internal/study/settings"
	"tiebreak/store"
	"tiebreak/web/questionpage"
)

// benchQuestionsFlags are the flags of bench questions.
type benchQuestionsFlags struct {
	envs, kind, out    string
	rule, program      string
	answers, seeds     int
	first              uint64
	pace               time.Duration
	mistake, threshold float64
}

func (f *benchQuestionsFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.envs, "env", "", "`names` of environments, separated by commas; default: all")
	fs.StringVar(&f.kind, "kind", string(idrl.CompareClips), "`query type`, as in 'tiebreak session'")
	fs.StringVar(&f.rule, "questions", idrl.AnswerableQuestions, "`which` questions are asked, as in 'tiebreak session': "+strings.Join(settings.Get("questions").Names(), " or "))
	fs.StringVar(&f.out, "out", "bench-questions", "`folder` for the counts and the pages with the questions")
	fs.IntVar(&f.answers, "answers", 30, "`number` of questions that are answered in each session")
	fs.IntVar(&f.seeds, "seeds", 1, "`number` of sessions in each environment")
	fs.Uint64Var(&f.first, "first-seed", 1, "first `seed`; seeds are consecutive")
	fs.DurationVar(&f.pace, "pace", 3*time.Second, "median of the response `times`")
	fs.Float64Var(&f.mistake, "mistake", seeing.DefaultMistake, "`probability` that an answer is the opposite")
	fs.StringVar(&f.program, "program", "", "`path` of the program tiebreak; default: it is built from the sources, by go")
	fs.Float64Var(&f.threshold, "threshold", seeing.DefaultThreshold, "`difference` of two clips that the person sees in half of the cases; 0: overlooks nothing")
}

func benchQuestionsCommand() command.Command {
	return command.With(command.Command{
		Name: "bench questions", Summary: "count questions that a person could answer, and repeats", Usage: "[flags]",
		About: "A simulated person (tiebreak simulate --expert seeing) answers the questions of a session with default settings\n" +
			"in each environment, on a server that the program tiebreak runs. It prints how many questions lack motion,\n" +
			"are about clips that look alike or about fallen robots, look like one of the last 50 questions, or were\n" +
			"answered with \"can't tell\"; and it writes a page with every question, like 'tiebreak questions'.\n" +
			"Finished sessions are kept; the same command continues where it was stopped. docs/dashboard.md has\n" +
			"results.",
		Example: "tiebreak-lab bench questions --env hopper,ant --seeds 3 --out asked",
	}, (*benchQuestionsFlags).declare, runBenchQuestions)
}

func (f *benchQuestionsFlags) check() error {
	switch {
	case f.answers < 1 || f.seeds < 1:
		return idrl.Errorf(idrl.Invalid, "--answers and --seeds must be at least 1; got %d and %d", f.answers, f.seeds)
	case f.pace <= 0:
		return idrl.Errorf(idrl.Invalid, "--pace must be positive; got %v", f.pace)
	case !idrl.QueryKind(f.kind).Valid():
		return idrl.Errorf(idrl.Invalid, "unknown query type %q", f.kind)
	}
	if !slices.Contains(settings.Get("questions").Names(), f.rule) {
		return idrl.Errorf(idrl.Invalid, "unknown rule of questions %q; use %s", f.rule, strings.Join(settings.Get("questions").Names(), " or "))
	}
	return f.expert().Check()
}

func (f *benchQuestionsFlags) expert() rehearsal.Expert {
	return rehearsal.Expert{Kind: rehearsal.Seeing, Mistake: f.mistake, Threshold: f.threshold}
}

// names returns the requested environments. Those that are not available are left out of all.
func (f *benchQuestionsFlags) names(list envs.List) (out []string, err error) {
	if f.envs != "" {
		for name := range strings.SplitSeq(f.envs, ",") {
			if _, err := list.Find(name); err != nil {
				return nil, err
			}
			out = append(out, name)
		}
		return out, nil
	}
	for _, e := range list {
		taste, err := seeing.Find(e.ID, "")
		if err == nil && e.Unavailable == nil && (taste.Stills || !idrl.QueryKind(f.kind).Still()) {
			out = append(out, e.ID)
		}
	}
	return out, nil
}

func runBenchQuestions(ctx context.Context, std command.IO, f *benchQuestionsFlags) (err error) {
	names, err := f.names(envs.Catalogue())
	if err = errors.Join(err, f.check()); err != nil {
		return fmt.Errorf("%w: %w", command.ErrUsage, err)
	}
	work, err := os.MkdirTemp("", "tiebreak-lab")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	line := command.NewProgressLine(std.Err)
	defer line.Clear()
	fmt.Fprintln(std.Out, askedHead)
	var all []askedCounts
	for _, name := range names {
		var counts []askedCounts
		for k := range uint64(f.seeds) {
			c, err := f.session(ctx, work, line, name, f.first+k)
			if err != nil {
				return fmt.Errorf("%s, seed %d: %w", name, f.first+k, err)
			}
			counts = append(counts, c)
		}
		line.Clear()
		fmt.Fprintln(std.Out, askedRow(name, counts))
		all = append(all, counts...)
	}
	fmt.Fprintln(std.Out, askedRow("all", all))
	return nil
}

// askedCounts are the stored counts of a session.
type askedCounts struct {
	Settings benchSettings
	Summary  questions.Summary
}

// benchSettings are the settings on which a session's questions depend, besides the speed of the
// machine.
type benchSettings struct {
	Env, Kind, Rule    string
	Seed               uint64
	Answers            int
	Pace               time.Duration
	Mistake, Threshold float64
}

// name names the session's files.
func (s benchSettings) name() string {
	return fmt.Sprintf("%s-%s-%s-%d", s.Env, s.Kind, s.Rule, s.Seed)
}

// session lets a person answer a session, whose data are in the folder work meanwhile, or reads the
// stored counts.
func (f *benchQuestionsFlags) session(ctx context.Context, work string, line *command.ProgressLine, env string, seed uint64) (c askedCounts, err error) {
	want := benchSettings{env, f.kind, f.rule, seed, f.answers, f.pace, f.mistake, f.threshold}
	dir := filepath.Join(f.out, want.name())
	if b, err := os.ReadFile(dir + ".json"); err == nil && json.Unmarshal(b, &c) == nil && c.Settings == want {
		return c, nil
	}
	r, err := f.ask(ctx, work, line, want)
	if err != nil {
		return c, err
	}
	c = askedCounts{want, questions.Summarise(r.Questions)}
	return c, writeJSON(dir+".json", c)
}

// ask lets a person answer a session and writes the page with its questions.
func (f *benchQuestionsFlags) ask(ctx context.Context, work string, line *command.ProgressLine, s benchSettings) (r questionpage.Report, err error) {
	if f.program == "" {
		if f.program, err = buildProgram(ctx, work); err != nil {
			return r, err
		}
	}
	data := filepath.Join(work, s.name())
	if err := f.simulate(ctx, data, progressWriter{line, s.Env}, s); err != nil {
		return r, err
	}
	db, err := store.OpenReadOnly(ctx, data)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	made, err := db.Sessions(ctx)
	if err != nil {
		return r, err
	}
	if len(made) != 1 {
		return r, idrl.Errorf(idrl.Internal, "tiebreak simulate made %d sessions, want one", len(made))
	}
	if r, err = questionpage.Of(ctx, db, made[0].Spec.ID, nil); err != nil {
		return r, err
	}
	r.Spec.ID, r.Overwrite = "", true // which is drawn again each time
	return r, r.Write(ctx, filepath.Join(f.out, s.name()))
}

// simulate runs the program tiebreak, which makes a session in the folder data and lets a person
// answer it.
func (f *benchQuestionsFlags) simulate(ctx context.Context, data string, progress io.Writer, s benchSettings) error {
	cmd := exec.CommandContext(ctx, f.program, "simulate", "--runs", "1", "--data", data, "--seed", fmt.Sprint(s.Seed),
		"--env", s.Env, "--kind", s.Kind, "--questions", s.Rule, "--answers", fmt.Sprint(s.Answers), "--every", "0",
		"--expert", rehearsal.Seeing, "--mistake", fmt.Sprint(s.Mistake), "--threshold", fmt.Sprint(s.Threshold),
		"--pace", s.Pace.String(), "--skip-idle", "--patience", time.Minute.String())
	var said bytes.Buffer
	cmd.Stderr = io.MultiWriter(&said, progress)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that it ends its workers
	cmd.WaitDelay = time.Minute
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("tiebreak simulate: %w\n%s", err, said.Bytes())
	}
	return nil
}

// buildProgram returns the path of the program tiebreak, which it builds in a folder.
func buildProgram(ctx context.Context, folder string) (string, error) {
	path := filepath.Join(folder, "tiebreak")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", path, "tiebreak/cmd/tiebreak").CombinedOutput(); err != nil {
		return "", idrl.Errorf(idrl.Unavailable, "tiebreak cannot be built: %v\n%s\nstart this command in the repository, or give the path of tiebreak as --program", err, out)
	}
	return path, nil
}

// progressWriter shows the messages of an annotator on a progress line.
type progressWriter struct {
	line *command.ProgressLine
	what string
}

// Write implements io.Writer.
func (t progressWriter) Write(b []byte) (int, error) {
	t.line.Show(t.what + ": " + strings.TrimSpace(string(b)))
	return len(b), nil
}

var _ io.Writer = progressWriter{}

// writeJSON writes a file completely, and makes its folder.
func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path+".part", b, 0o644)); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

const askedHead = "| environment | kind | questions | lack motion | alike | both fallen | repeats | fourth time | both useless | same useless | can't tell | equal | easy |\n" +
	"|---|---|---|---|---|---|---|---|---|---|---|---|---|"

// askedRow returns the line of the table about sessions.
func askedRow(name string, of []askedCounts) string {
	var sum questions.Summary
	var kinds []string
	for _, c := range of {
		s := c.Summary
		sum.Questions += s.Questions
		sum.Still += s.Still
		sum.Alike += s.Alike
		sum.Fallen += s.Fallen
		sum.Repeats += s.Repeats
		sum.Often += s.Often
		sum.Useless += s.Useless
		sum.SameUseless += s.SameUseless
		sum.CantTell += s.CantTell
		sum.Equal += s.Equal
		sum.Easy += s.Easy
		if kind := strings.ReplaceAll(c.Settings.Kind, "_", " "); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	cells := []string{name, strings.Join(kinds, ", "), fmt.Sprint(sum.Questions)}
	for _, n := range []int{sum.Still, sum.Alike, sum.Fallen, sum.Repeats, sum.Often, sum.Useless, sum.SameUseless, sum.CantTell, sum.Equal, sum.Easy} {
		cells = append(cells, fmt.Sprintf("%.0f %%", 100*float64(n)/float64(max(1, sum.Questions))))
	}
	return "| " + strings.Join(cells, " | ") + " |"
}
