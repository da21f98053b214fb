package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"

	"tiebreak/envs"
	shared "tiebreak/internal/base/command"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
	"tiebreak/store"
)

func doctorCommand() command {
	return shared.With(command{
		Name: "doctor", Summary: "check a data folder for damage and say what to do", Usage: "--data DIR [flags]",
		About: "Reads the whole database of a data folder: its pages, the clips against their checksums, and the\n" +
			"stored posteriors against the answers; and looks whether the videos of recordings are where they were. It changes nothing, and the server may be running. It prints\n" +
			"what is damaged and what to do; the exit status is 1 if answers or clips are damaged.",
		Example: "tiebreak doctor --data tiebreak-data",
	}, (*doctorFlags).declare, runDoctor)
}

// doctorFlags are the flags of doctor.
type doctorFlags struct {
	own  own
	data string
}

func (f *doctorFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	ownFlags(fs, &f.own)
}

func runDoctor(ctx context.Context, io stdio, f *doctorFlags) (err error) {
	list, err := environments(f.own.at(f.data))
	if err != nil {
		return err
	}
	warnUncaged(io, list)
	db, err := store.OpenReadOnly(ctx, f.data)
	if err != nil {
		return err // says what to do if the database is damaged
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	found, err := db.Check(ctx, judge())
	if err != nil {
		return err
	}
	printFindings(io, "Database", found.Pages)
	printFindings(io, "Clips", found.Clips)
	printFindings(io, "Steps", found.Steps)
	d := &diagnosis{app: &app{envs: func() envs.List { return list }, db: db, log: slog.New(slog.DiscardHandler)}, io: io}
	if err := d.beliefs(ctx); err != nil && len(found.Pages) == 0 {
		return err
	}
	switch {
	case len(found.Pages) > 0:
		return idrl.Errorf(idrl.Damaged, "the database is damaged; what can still be read can be exported.\n%s", db.Advice())
	case len(found.Clips) > 0:
		return idrl.Errorf(idrl.Damaged, "clips are damaged and are not shown. Answers are not affected: annotators report such a clip and go on.\n"+
			"To restore the clips, go back to a backup that contains them; answers since then would be lost.")
	}
	missing := missingVideos(f.data)
	if len(missing) > 0 {
		printFindings(io, "Videos", missing)
	}
	if len(found.Steps) > 0 {
		return idrl.Errorf(idrl.Damaged, "raw steps are damaged; labelling goes on without them, and answers are not affected")
	}
	if len(missing) > 0 {
		return idrl.Errorf(idrl.Damaged, "recordings or their videos are not as they were: clips that were shown are in the database, and no others can be cut")
	}
	return nil
}

// printFindings prints a heading and the findings under it.
func printFindings(io stdio, what string, found []string) {
	if len(found) == 0 {
		fmt.Fprintf(io.Out, "%-9s sound\n", what)
		return
	}
	fmt.Fprintf(io.Out, "%-9s DAMAGED\n", what)
	for _, line := range found {
		fmt.Fprintf(io.Out, "  %s\n", line)
	}
}

// A diagnosis checks the sessions of a data folder.
type diagnosis struct {
	app *app
	io  stdio
}

// beliefs compares the stored posteriors of every session with its answers.
func (d *diagnosis) beliefs(ctx context.Context) error {
	sessions, err := d.app.db.Sessions(ctx)
	if err != nil {
		return err
	}
	var lines []string
	for _, s := range sessions {
		if line := d.session(ctx, s.Spec.ID); line != "" {
			lines = append(lines, fmt.Sprintf("session %s: %s", s.Spec.ID, line))
		}
	}
	if len(lines) == 0 {
		fmt.Fprintf(d.io.Out, "%-9s sound\n", "Posterior")
		return nil
	}
	fmt.Fprintf(d.io.Out, "%-9s damaged; they are a cache, which the server computes again from the answers\n", "Posterior")
	for _, line := range lines {
		fmt.Fprintf(d.io.Out, "  %s\n", line)
	}
	return ctx.Err()
}

// session describes the errors in the stored posteriors of a session; empty if there are none.
func (d *diagnosis) session(ctx context.Context, id idrl.SessionID) string {
	rec, err := d.app.db.Load(ctx, id)
	if err != nil {
		return fmt.Sprintf("cannot be read: %v", err)
	}
	cfg, err := d.app.build(rec)
	if err != nil {
		return fmt.Sprintf("not compared: %v", err)
	}
	damaged, same, err := session.CheckBeliefs(cfg)
	switch {
	case err != nil:
		return fmt.Sprintf("the posterior cannot be computed from the answers: %v", err)
	case len(damaged) > 0:
		stored := 0
		for _, s := range rec.Snapshots {
			if s.Belief != nil {
				stored++
			}
		}
		return fmt.Sprintf("%d of %d stored posteriors are damaged, the first after log row %d", len(damaged), stored, damaged[0])
	case !same:
		return "the last stored posterior is sound, but differs in some bits from the one that this version computes from the answers"
	}
	return ""
}
