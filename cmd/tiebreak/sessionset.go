package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// setFlags are the flags of session set.
type setFlags struct {
	data, session, instructions, consent string
	budget                               int
}

func (f *setFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	sessionFlag(fs, &f.session)
	fs.IntVar(&f.budget, "budget", -1, "`answers` wanted, those that state a preference or a rating; 0: no limit")
	instructionsFileFlag(fs, &f.instructions)
	consentFileFlag(fs, &f.consent)
}

func sessionSetCommand() command {
	c := subcommand("session set", "change what annotators of a session read, and how many answers it wants", (*setFlags).declare,
		"Changes the number of answers wanted. A complete session continues if the number exceeds its answers; a\n"+
			"session ends if it does not. New instructions are a new version, which every annotator is shown before the\n"+
			"next answer. A running server follows within seconds.",
		func(ctx context.Context, std stdio, f *setFlags) error {
			if f.budget == -1 && f.instructions == "" && f.consent == "" {
				return fmt.Errorf("%w: nothing to change: give --budget, --instructions-file or --consent-file", errUsage)
			}
			return besideSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				if f.instructions != "" {
					version, err := publish(ctx, db, spec.ID, f.instructions)
					if err != nil {
						return err
					}
					fmt.Fprintf(std.Out, "Session %s has version %d of its instructions; before it was %d.\n", spec.ID, version, spec.CurrentInstructions().Version)
				}
				if f.consent != "" {
					if err := setConsent(ctx, std, db, spec, f.consent); err != nil {
						return err
					}
				}
				if f.budget == -1 {
					return nil
				}
				if err := db.SetBudget(ctx, spec.ID, f.budget, byCommand, time.Now()); err != nil {
					return err
				}
				fmt.Fprintf(std.Out, "Session %s now wants %s; before it was %s.\n", spec.ID, wanted(f.budget), wanted(spec.Budget))
				return nil
			})
		})
	c.Usage, c.Example = "[--budget N] [--instructions-file FILE] [flags]", c.Example+" --budget 60"
	return c
}

func wanted(budget int) string {
	switch budget {
	case 0:
		return "any number of answers"
	case 1:
		return "1 answer"
	}
	return fmt.Sprintf("%d answers", budget)
}
