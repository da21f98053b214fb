package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"tiebreak/envs"
	"tiebreak/internal/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/steps"
	"tiebreak/internal/training"
	"tiebreak/store"
)

// exportFlags are the flags of export.
type exportFlags struct {
	data, session, format string
	all                   bool
}

func (f *exportFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.data, "data", envOr("TIEBREAK_DATA", defaultData), "`folder` that holds everything")
	fs.StringVar(&f.session, "session", "", "`id` of the session; without it the sessions are listed")
	fs.StringVar(&f.format, "format", export.Formats()[0], "format: "+strings.Join(export.Formats(), ", ")+"; or steps, the raw steps of the trajectories behind the answers")
	fs.BoolVar(&f.all, "all", false, "include answers of annotators who are left out, marked in the column left_out")
}

func exportCommand() command {
	return command{
		name: "export", summary: "write the answers of a session as JSON lines or CSV", usage: "--session ID [flags]",
		about: "Writes one line per answer to standard output; docs/export.md explains the columns. It reads one\n" +
			"snapshot of the database and may run beside the server. Without --session it lists the sessions.",
		example: "tiebreak export --data tiebreak-data --session ID --format csv > answers.csv",
		flags:   func(fs *flag.FlagSet) { new(exportFlags).declare(fs) },
		run:     runExport,
	}
}

func runExport(ctx context.Context, std stdio, args []string) (err error) {
	var f exportFlags
	fs := flag.NewFlagSet("export", flag.ContinueOnError)
	f.declare(fs)
	if err := parse(fs, args); err != nil {
		return err
	}
	if err := export.CheckFormat(f.format); err != nil && f.format != export.StepsFormat {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	db, err := store.OpenReadOnly(ctx, f.data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if f.session == "" {
		return listSessions(ctx, std, db)
	}
	spec, err := db.Spec(ctx, idrl.SessionID(f.session))
	if err != nil {
		return fmt.Errorf("%w; 'tiebreak export --data %s' lists the sessions", err, f.data)
	}
	out := bufio.NewWriter(std.out)
	if f.format == export.StepsFormat {
		err = exportSteps(ctx, out, db, spec.ID)
		return errors.Join(err, out.Flush())
	}
	if spec, err = training.NameFeatures(envs.Catalogue(), spec); err != nil {
		return fmt.Errorf("session %s is of a version that did not record the names of features: %w; start 'tiebreak serve', where all this is, and export on the session's page", spec.ID, err)
	}
	rows := export.Rows(func(yield func(export.Row) error) error { return db.Rows(ctx, spec.ID, yield) })
	if !f.all {
		rows = export.Counting(rows)
	}
	err = export.Write(out, f.format, spec, rows)
	return errors.Join(err, out.Flush())
}

// exportSteps writes the raw steps of the trajectories that answered clips were cut
// from.
func exportSteps(ctx context.Context, out io.Writer, db *store.DB, session idrl.SessionID) error {
	var names []idrl.StepsID
	err := db.AnsweredSteps(ctx, session, func(name idrl.StepsID) error {
		names = append(names, name)
		return nil
	})
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return idrl.Errorf(idrl.NotFound, "no raw steps are kept of the clips that were answered (docs/export.md)")
	}
	for _, name := range names {
		b, err := db.Steps(ctx, session, name)
		if err != nil {
			return err
		}
		s, err := steps.Decode(name, b)
		if err != nil {
			return err
		}
		if err := export.WriteSteps(out, name, s); err != nil {
			return err
		}
	}
	return nil
}

func listSessions(ctx context.Context, std stdio, db *store.DB) error {
	list, err := db.Sessions(ctx)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return idrl.Errorf(idrl.NotFound, "there is no session yet; 'tiebreak demo' makes one")
	}
	for _, s := range list {
		fmt.Fprintf(std.out, "%s  %-10s %-17s %5d answers  %s\n", s.Spec.ID, s.Spec.Env, s.Spec.Kind, s.Answers, s.Spec.Title)
	}
	return nil
}
