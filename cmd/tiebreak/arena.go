package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/bradley"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/training"
	"tiebreak/store"
	"tiebreak/web"
)

func arenaCommand() command {
	return command{
		Name: "arena", Summary: "let people compare policies of sessions without knowing which is which", Usage: "new | list | show [flags]",
		About: "An arena is a session in which people compare policies and do not know which is which: those of other sessions, or\n" +
			"those that acted in imported rollouts or in trajectories that were uploaded to a session. The result is the strength of each policy, with intervals (docs/arena.md). In all else it is a session: manage its\n" +
			"links, people, state and exports with 'tiebreak invite', 'annotator', 'session' and 'export'.",
		Example: "tiebreak arena list --data tiebreak-data",
		Subs:    []command{arenaNewCommand(), arenaListCommand(), arenaShowCommand()},
	}
}

// arenaFlags are the flags of the commands about arenas.
type arenaFlags struct {
	own own
	siteFlags
	session, consent   string
	entrants           entrantsFlag
	groups             string
	seed               seedFlag
	spec               idrl.SessionSpec
	json, csv, answers bool
	tasks              bool
}

func (f *arenaFlags) declareNew(fs *flag.FlagSet) {
	f.declare(fs)
	ownFlags(fs, &f.own)
	fs.Var(&f.entrants, "entrant", "`SESSION`, SESSION@ROW or either with =TITLE: the policy that a session recommends now, or recommended after that row of its log; give the flag once for each policy, 2 to "+
		strconv.Itoa(idrl.MaxEntrants)+". Or rollouts-NAME:POLICY or SESSION:POLICY, also with =TITLE: a policy that acted in imported rollouts, or in trajectories that were uploaded to a session")
	fs.Func("entrants", "`rollouts-NAME` or SESSION: all policies that acted in these rollouts, or in what was uploaded to this session", f.entrants.all)
	fs.StringVar(&f.groups, "task-groups", "", "`file` of tasks of rollouts and the groups that the result is also about: CSV with the columns task and group")
	fs.StringVar(&f.spec.Title, "title", "Arena", "`name` of the arena, which annotators see")
	settings.DeclareOnly(fs, &f.spec, "budget", "answers_each", "completion_code", "instructions", "withdraw_days", "min_dwell", "max_rate")
	fs.Float64Var(&f.spec.Arena.Detect, "detect", idrl.DefaultDetect, "smallest preference that the test for a winner is planned to find, as a `share` of the answers that prefer one of two, "+
		fmt.Sprintf("%g to %g; the arena ends when the test does. 0: no test, and questions about all strengths", idrl.MinDetect, idrl.MaxDetect))
	consentFileFlag(fs, &f.consent)
	fs.Var(&f.seed, "seed", "`seed` of the starts, sides and order of questions; default: drawn at random")
}

// An entrantsFlag is a list of entrants.
type entrantsFlag []web.Entrant

// String implements flag.Value.
func (e *entrantsFlag) String() string { return "" }

// Set implements flag.Value.
func (e *entrantsFlag) Set(text string) error {
	if set, policy, ok := strings.Cut(text, ":"); ok && !strings.ContainsAny(set, "=@") {
		*e = append(*e, web.Entrant{Set: set, Policy: policy})
		return nil
	}
	which, title, _ := strings.Cut(text, "=")
	session, row, at := strings.Cut(which, "@")
	w := web.Entrant{Session: idrl.SessionID(session), After: -1, Title: title}
	if at {
		n, err := strconv.ParseInt(row, 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("write SESSION@ROW with the number of a row of the session's log, 0 for before the first; got %q", which)
		}
		w.After = n
	}
	*e = append(*e, w)
	return nil
}

// all adds all policies of a set of recordings, or of a session of uploads.
func (e *entrantsFlag) all(set string) error {
	*e = append(*e, web.Entrant{Set: set})
	return nil
}

func arenaNewCommand() command {
	c := subcommand("arena new", "make an arena", (*arenaFlags).declareNew,
		"Makes an arena of the policies that sessions recommend, or that acted in imported rollouts or uploaded trajectories, and prints\n"+
			"its id and a link for annotators. All sessions must have the same environment with the same layout, and all recorded policies be of the same\n"+
			"rollouts. The server may be running.",
		func(ctx context.Context, std stdio, f *arenaFlags) error {
			list, err := environments(f.own.at(f.data))
			if err != nil {
				return err
			}
			if f.consent != "" {
				if f.spec.Consent, err = readConsent(f.consent); err != nil {
					return err
				}
			}
			if f.groups != "" {
				if f.spec.Arena.Tasks, err = readTaskGroups(f.groups); err != nil {
					return err
				}
			}
			if !f.seed.set {
				f.seed.value = web.DrawSeed()
			}
			f.spec.Seed = f.seed.value
			with := withDatabase
			if slices.ContainsFunc(f.entrants, func(e web.Entrant) bool { return e.Set != "" }) {
				with = withNewDatabase // there may have been an import and no session yet
			}
			return with(ctx, f.data, func(db *store.DB) error {
				base, err := f.address(ctx, db)
				if err != nil {
					return err
				}
				spec, err := newArena(ctx, db, list, f.spec, f.entrants, "")
				if err != nil {
					return usageIfInvalid(err)
				}
				token, err := auth.New(auth.Config{Store: db}).NewInvitation(ctx, spec.ID, linkUses, linkLife)
				if err != nil {
					return err
				}
				fmt.Fprintf(std.Out, "Arena:      %s\nAnnotator:  %s/join/%s\n", spec.ID, base, token)
				return nil
			})
		})
	c.Usage = "--entrant SESSION --entrant SESSION | --entrants rollouts-NAME or SESSION [flags]"
	c.Example += " --entrant ID=Before --entrant ID@0=After"
	return c
}

func arenaListCommand() command {
	return subcommand("arena list", "list the arenas of a data folder", func(f *arenaFlags, fs *flag.FlagSet) { dataFlag(fs, &f.data) },
		"Lists the arenas, the newest first. The server may be running.",
		func(ctx context.Context, std stdio, f *arenaFlags) error {
			return withDatabase(ctx, f.data, func(db *store.DB) error {
				all, err := studiesOf(ctx, db)
				if err != nil {
					return err
				}
				var list []record.Summary
				for _, s := range all {
					if s.Spec.IsArena() {
						list = append(list, s)
					}
				}
				return listed(std.Out, list, f.data+" holds no arena; 'tiebreak arena new' makes one.", "ARENA\tSTATE\tANSWERS\tENVIRONMENT\tMADE\tTITLE\tENTRANTS", func(w io.Writer, s record.Summary) {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Spec.ID, s.State, answersOf(s), s.Spec.Env, when(s.Spec.CreatedAt), s.Spec.Title,
						strings.Join(s.Spec.Arena.Titles(), ", "))
				})
			})
		})
}

func (f *arenaFlags) declareShow(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	sessionFlag(fs, &f.session)
	fs.BoolVar(&f.json, "json", false, "all of it as a JSON object")
	fs.BoolVar(&f.csv, "csv", false, "the entrants as CSV")
	fs.BoolVar(&f.tasks, "tasks", false, "the entrants in each task and group of tasks of recorded policies as CSV")
	fs.BoolVar(&f.answers, "answers", false, "the answers that count as CSV: the annotator, the two entrants and the preferred one")
}

func arenaShowCommand() command {
	return subcommand("arena show", "write the result of an arena", (*arenaFlags).declareShow,
		"Writes the strength of each entrant of an arena with its 95 % interval, how often each was preferred to each other one,\n"+
			"how well annotators agree, the winner or about how many more answers are needed (docs/arena.md). The server may be running.",
		func(ctx context.Context, std stdio, f *arenaFlags) error {
			return withSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				rec, err := db.Load(ctx, spec.ID)
				if err != nil {
					return err
				}
				r, outcomes, err := arenaResult(ctx, db, rec)
				switch {
				case err != nil:
					return err
				case f.json:
					return r.WriteJSON(std.Out)
				case f.csv:
					return r.WriteCSV(std.Out)
				case f.tasks:
					return r.WriteTasks(std.Out)
				case f.answers:
					return bradley.WriteOutcomes(std.Out, spec.Arena, outcomes)
				}
				return printArena(std.Out, r)
			})
		})
}

// arenaResult returns the result of an arena and the answers that count. It says whether its clips are still being cut.
func arenaResult(ctx context.Context, db *store.DB, rec record.Record) (bradley.Report, []bradley.Outcome, error) {
	r, outcomes, err := bradley.NewReport(rec)
	if err != nil {
		return r, nil, err
	}
	partial, err := stillCut(ctx, db, rec.Spec.ID)
	if partial {
		r = r.Partial()
	}
	return r, outcomes, err
}

// stillCut reports whether an arena asks about a part of its clips, and more are to be cut.
func stillCut(ctx context.Context, db *store.DB, id idrl.SessionID) (bool, error) {
	kept, err := db.Agent(ctx, id, training.EncountersName)
	if idrl.KindOf(err) == idrl.NotFound {
		return false, nil
	}
	return err == nil && training.Partial(kept), err
}

// printArena writes a report for people.
func printArena(out io.Writer, r bradley.Report) error {
	fmt.Fprintf(out, "%s: %s\n%s\n", r.Title, r.Sum(), r.Headline())
	for _, text := range []string{r.Cut(), r.Meetings(), r.Guarantee(), r.Accounts(), r.AccountsOfTasks()} {
		if text != "" {
			fmt.Fprintln(out, text)
		}
	}
	fmt.Fprintln(out)
	err := table(out, "\tENTRANT\tSTRENGTH\t95 %\tWIDER 95 %\tP(BEST)\tANSWERS\tPREFERRED\tEQUAL", len(r.Entrants), func(w io.Writer, i int) {
		e := r.Entrants[i]
		fmt.Fprintf(w, "%d\t%s\t%+.2f\t%+.2f to %+.2f\t%s\t%s\t%d\t%d\t%d\n", i+1, e.Title, e.Strength, e.Low, e.High, e.Population, stats.Percent(e.Best), e.Answers, e.Wins, e.Ties)
	})
	if err != nil {
		return err
	}
	if err := printTasks(out, "TASK", r.Tasks); err != nil {
		return err
	}
	if err := printTasks(out, "GROUP OF TASKS", r.Groups); err != nil {
		return err
	}
	fmt.Fprintln(out)
	err = table(out, "A\tB\tA PREFERRED\tB PREFERRED\tEQUAL\tP(A)\t95 %\tSTARTS LEFT OUT", len(r.Pairs), func(w io.Writer, i int) {
		p := r.Pairs[i]
		share, interval := "-", "-"
		if r.ShareKnown(p) {
			share, interval = stats.Percent(p.P), stats.Percent(p.Low)+" to "+stats.Percent(p.High)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\t%s\t%d of %d\n", p.A, p.B, p.WinsA, p.WinsB, p.Ties, share, interval, p.Unasked, p.Starts)
	})
	if err != nil || len(r.People) == 0 {
		return err
	}
	fmt.Fprintln(out)
	return table(out, "ANNOTATOR\tANSWERS\tAGREEMENT\t95 %\tEXPECTED\t", len(r.People), func(w io.Writer, i int) {
		p := r.People[i]
		agreed, interval, expected, note := "-", "-", "-", ""
		if p.Compared > 0 {
			agreed, expected = fmt.Sprintf("%d of %d", p.Agreed, p.Compared), stats.Percent(p.Expected)
			interval = stats.Percent(p.Low) + " to " + stats.Percent(p.High)
		}
		if p.Chance {
			note = "answers look random"
		}
		if p.Reversed {
			note = "prefers what others like less"
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\n", p.ID, p.Answers, agreed, interval, expected, note)
	})
}

// printTasks writes the strengths in each task, or group of tasks, that has answers.
func printTasks(out io.Writer, kind string, tasks []bradley.ReportTask) error {
	type row struct {
		task string
		bradley.ReportTaskEntrant
	}
	var rows []row
	for _, t := range tasks {
		for _, e := range t.Entrants {
			if t.Answers > 0 {
				rows = append(rows, row{cmp.Or(t.Name, "(none named)"), e})
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	return table(out, kind+"\tENTRANT\tSTRENGTH\t95 %\tWIDER 95 %\tANSWERS\tPREFERRED\tEQUAL", len(rows), func(w io.Writer, i int) {
		e := rows[i]
		fmt.Fprintf(w, "%s\t%s\t%+.2f\t%+.2f to %+.2f\t%s\t%d\t%d\t%d\n", e.task, e.Title, e.Strength, e.Low, e.High, e.Population, e.Answers, e.Wins, e.Ties)
	})
}

// arenaFiles returns the result of an arena as files.
func arenaFiles(ctx context.Context, db *store.DB, rec record.Record) ([]export.File, error) {
	r, outcomes, err := arenaResult(ctx, db, rec)
	if err != nil {
		return nil, err
	}
	var result, strengths, tasks, answers bytes.Buffer
	if err := r.WriteJSON(&result); err != nil {
		return nil, fmt.Errorf("result of arena %s: %w", rec.Spec.ID, err)
	}
	if err := r.WriteCSV(&strengths); err != nil {
		return nil, err
	}
	if err := bradley.WriteOutcomes(&answers, rec.Spec.Arena, outcomes); err != nil {
		return nil, err
	}
	files := []export.File{
		{Name: "arena.json", Content: result.Bytes()}, {Name: "strengths.csv", Content: strengths.Bytes()}, {Name: "answers.csv", Content: answers.Bytes()},
	}
	if rec.Spec.Arena.Recorded() {
		if err := r.WriteTasks(&tasks); err != nil {
			return nil, err
		}
		files = append(files, export.File{Name: "tasks.csv", Content: tasks.Bytes()})
	}
	return files, nil
}

// arenas gives the server the arenas.
type arenas struct{ a *app }

// NewArena implements web.Arenas.
func (r arenas) NewArena(ctx context.Context, spec idrl.SessionSpec, entrants []web.Entrant, owner string) (idrl.SessionID, error) {
	spec, err := newArena(ctx, r.a.db, r.a.envs(), spec, entrants, owner)
	if err != nil {
		return "", err
	}
	_, err = r.a.manager.Session(ctx, spec.ID) // it starts to make the clips
	return spec.ID, err
}

// Arena implements web.Arenas.
func (r arenas) Arena(ctx context.Context, id idrl.SessionID) (bradley.Report, []bradley.Outcome, error) {
	rec, err := r.a.db.Load(ctx, id)
	if err != nil {
		return bradley.Report{}, nil, err
	}
	return arenaResult(ctx, r.a.db, rec)
}
