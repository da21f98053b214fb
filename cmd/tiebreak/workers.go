package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"tiebreak/envs"
	shared "tiebreak/internal/base/command"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/training"
	"tiebreak/store"
)

// workersFlags are the flags of the commands about workers.
type workersFlags struct {
	data, worker, why string
	json              bool
}

func (f *workersFlags) declareList(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	fs.BoolVar(&f.json, "json", false, "write JSON, as GET /api/v1/workers does (docs/api.md)")
}

func (f *workersFlags) declareOne(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	fs.StringVar(&f.worker, "worker", "", "`name` of the worker")
}

func (f *workersFlags) declareBar(fs *flag.FlagSet) {
	f.declareOne(fs)
	fs.StringVar(&f.why, "why", "", "`text` that says why, for other researchers")
}

func workersCommand() command {
	return shared.With(command{
		Name: "workers", Summary: "list and stop the workers on other machines", Usage: "[flags]",
		About: "Lists the workers on other machines that do training jobs for the server: where they are, since when, what each\n" +
			"does, and how many jobs it has done since the server started; then the jobs that wait, and why. The server has to run\n" +
			"on the data folder; what is shown is at most a few seconds old. The page /workers of the server shows the same.\n\n" +
			"A worker that is drained finishes its job and gets no other. What a banned worker does is done by others at once, from\n" +
			"the last checkpoint; results stay the same. The server itself gives no more jobs to a worker whose results were\n" +
			"false twice. 'tiebreak workers open' allows a worker to have jobs again in each of these cases.",
		Example: "tiebreak workers --data tiebreak-data",
		Subs: []command{
			barCommand("drain", record.WorkerDrained, "have a worker finish its job and give it no other",
				"The worker finishes what it does, and gets no further job until 'tiebreak workers open' names it, also after a restart of\nthe server. Use it before you stop a machine.", "finishes its job, and gets no other"),
			barCommand("ban", record.WorkerBanned, "stop a worker, and have its job done by others",
				"What the worker does is done by others at once, from the last checkpoint, and it gets no further job until\n'tiebreak workers open' names it, also after a restart of the server. A worker that is not there yet can be banned, too.", "gets no jobs"),
			workersOpenCommand(),
		},
	}, (*workersFlags).declareList, listWorkers)
}

// ofWorker returns a command about one worker, whose name may stand without its flag.
func ofWorker(action, summary, about, example string, declare func(*workersFlags, *flag.FlagSet), run func(context.Context, stdio, *store.DB, *workersFlags) error) command {
	return shared.With(command{
		Name: "workers " + action, Summary: summary, Usage: "NAME [flags]", Unflagged: "worker",
		About: about + " A running server acts within seconds.", Example: "tiebreak workers " + action + " lab7" + example,
	}, declare, func(ctx context.Context, std stdio, f *workersFlags) error {
		if f.worker == "" {
			return fmt.Errorf("%w: the name of the worker is missing; 'tiebreak workers' lists them", errUsage)
		}
		return withDatabase(ctx, f.data, func(db *store.DB) error { return run(ctx, std, db, f) })
	})
}

// barCommand returns a command after which a worker gets no jobs.
func barCommand(action, bar, summary, about, effect string) command {
	return ofWorker(action, summary, about, " --why 'The machine is needed.'", (*workersFlags).declareBar, func(ctx context.Context, std stdio, db *store.DB, f *workersFlags) error {
		if err := db.BarWorker(ctx, record.WorkerBar{Worker: f.worker, Bar: bar, Who: byCommand, At: time.Now(), Why: f.why}); err != nil {
			return err
		}
		fmt.Fprintf(std.Out, "Worker %s is %s: it %s.\n", f.worker, bar, effect)
		r, err := workersOf(ctx, db)
		if err == nil && !slices.ContainsFunc(r.Workers, func(w record.WorkerState) bool { return w.Name == f.worker }) {
			fmt.Fprintln(std.Out, "No worker of that name is there now; this holds if one comes.")
		}
		return err
	})
}

func workersOpenCommand() command {
	return ofWorker("open", "allow a worker to have jobs again",
		"Allows a worker that was drained, banned, or found to have false results to have jobs again.", "", (*workersFlags).declareOne,
		func(ctx context.Context, std stdio, db *store.DB, f *workersFlags) error {
			if err := db.UnbarWorker(ctx, f.worker, byCommand, time.Now()); err != nil {
				return err
			}
			fmt.Fprintf(std.Out, "Worker %s may have jobs again.\n", f.worker)
			return nil
		})
}

// workersOf returns what the server of a data folder knows of workers; if none runs, only what researchers say of them.
func workersOf(ctx context.Context, db *store.DB) (record.WorkerReport, error) {
	r, err := db.Workers(ctx)
	if err != nil || r.At.IsZero() {
		return r, err
	}
	served, err := db.Served(ctx)
	if err == nil && !served { // it was killed
		r = record.WorkerReport{}.WithBars(r.Bars)
	}
	return r, err
}

// placed returns an error of kind Conflict if no place that the server of a report has can train a session.
func placed(r record.WorkerReport, list envs.List, spec idrl.SessionSpec) error {
	travel, err := training.Elsewhere(list, spec)
	if err != nil {
		return nil //nolint:nilerr // the settings are wrong, and what makes the session says how
	}
	if why := r.WhyUnplaced(travel.Needs); why != "" {
		return idrl.Errorf(idrl.Conflict, "no place can train this session now: %s; the server does no trainings itself (--trainings-here -1). "+
			"Start a worker that has all of it (docs/workers.md), let the server train itself, or make the session anyway", why)
	}
	return nil
}

func listWorkers(ctx context.Context, std stdio, f *workersFlags) error {
	return withDatabase(ctx, f.data, func(db *store.DB) error {
		r, err := workersOf(ctx, db)
		if err != nil {
			return err
		}
		if f.json {
			if r.At.IsZero() {
				r.At = time.Now().UTC()
			}
			return printJSON(std.Out, r)
		}
		return printWorkers(std.Out, r)
	})
}

// printWorkers writes a report for people.
func printWorkers(out io.Writer, r record.WorkerReport) error {
	if len(r.Workers) == 0 {
		noWorkers(out, r.Elsewhere)
	} else if err := table(out, "WORKER\tMACHINE\tVERSION\tSINCE\tDOES\tDONE\tSTATE", len(r.Workers), func(w io.Writer, i int) {
		k := r.Workers[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", k.Name, k.Where(), cmp.Or(k.Version, "-"), when(k.Since), doing(k.Doing), k.Done, stateOfWorker(k, r.Bar(k.Name)))
	}); err != nil {
		return err
	}
	if absent := r.Absent(); len(absent) > 0 {
		fmt.Fprintln(out)
		if err := table(out, "NOT THERE NOW\tSTATE\tSINCE\tBY\tWHY", len(absent), func(w io.Writer, i int) {
			b := absent[i]
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", b.Worker, b.Bar, when(b.At), b.Who, b.Why)
		}); err != nil {
			return err
		}
	}
	if len(r.Waiting) > 0 {
		fmt.Fprintln(out)
		if err := table(out, "JOB THAT WAITS\tSINCE\tWHY", len(r.Waiting), func(w io.Writer, i int) {
			j := r.Waiting[i]
			fmt.Fprintf(w, "%s\t%s\t%s\n", j.What(), when(j.Since), j.Why)
		}); err != nil {
			return err
		}
	}
	if len(r.Unplaced) > 0 {
		fmt.Fprintln(out)
		if err := table(out, "NO PLACE CAN TRAIN\tWHY", len(r.Unplaced), func(w io.Writer, i int) {
			fmt.Fprintf(w, "%s\t%s\n", strings.Join(r.Unplaced[i].Needs, ", "), r.Unplaced[i].Why)
		}); err != nil {
			return err
		}
	}
	if r.LeftOut > 0 {
		fmt.Fprintf(out, "%d more are not listed.\n", r.LeftOut)
	}
	return nil
}

// noWorkers says how to have workers on other machines.
func noWorkers(out io.Writer, elsewhere bool) {
	if elsewhere {
		fmt.Fprintln(out, "No worker on another machine has offered itself. Start one on a machine with the same version of the program:")
	} else {
		fmt.Fprintln(out, "No server that takes workers on other machines runs on this data folder. Start it in one of these ways, and a worker on each machine:")
	}
	for _, s := range workerStarts() {
		fmt.Fprintf(out, "\n%s:\n", s.By)
		if !elsewhere {
			fmt.Fprintf(out, "  %s\n", s.Serve)
		}
		fmt.Fprintf(out, "  %s\n", s.Worker)
	}
}

// doing writes what a worker does.
func doing(list []record.WorkerJob) string {
	var out []string
	for _, j := range list {
		out = append(out, fmt.Sprintf("%s, since %s", j.What(), when(j.Since)))
	}
	return cmp.Or(strings.Join(out, "; "), "-")
}

// stateOfWorker writes the state of a worker, and who said why.
func stateOfWorker(w record.WorkerState, b record.WorkerBar) string {
	text := w.Says()
	if b.Bar == record.WorkerDrained || b.Bar == record.WorkerBanned {
		text += fmt.Sprintf(" (by %s, %s)", b.Who, when(b.At))
		if b.Why != "" {
			text += ": " + b.Why
		}
	}
	if w.False > 0 && w.Refused == "" {
		text += fmt.Sprintf("; false results: %d", w.False)
	}
	return text
}
