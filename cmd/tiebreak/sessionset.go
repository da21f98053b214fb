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
	data, session string
	budget        int
}

func (f *setFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	sessionFlag(fs, &f.session)
	fs.IntVar(&f.budget, "budget", -1, "`answers` wanted, those that state a preference or a rating; 0: no limit")
}

func sessionSetCommand() command {
	c := subcommand("session set", "change how many answers a session wants", (*setFlags).declare,
		"Changes the number of answers wanted. A complete session continues if the number exceeds its answers; a\n"+
			"session ends if it does not. A running server follows within seconds.",
		func(ctx context.Context, std stdio, f *setFlags) error {
			if f.budget == -1 {
				return fmt.Errorf("%w: nothing to change: give --budget", errUsage)
			}
			return besideSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				if err := db.SetBudget(ctx, spec.ID, f.budget, byCommand, time.Now()); err != nil {
					return err
				}
				fmt.Fprintf(std.out, "Session %s now wants %s; before it was %s.\n", spec.ID, wanted(f.budget), wanted(spec.Budget))
				return nil
			})
		})
	c.usage, c.example = "--budget N [flags]", c.example+" --budget 60"
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
