package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"
	"tiebreak/store"
)

// setFlags are the flags of session set: every setting that may change; long texts come from files.
type setFlags struct {
	data, session, instructions, consent string
	spec                                 idrl.SessionSpec
	given                                *flag.FlagSet
}

// setters change the settings of a session that can change while it runs, by key. Each returns a
// description of the change, for people.
var setters = map[string]func(context.Context, *store.DB, *setFlags, idrl.SessionSpec) (string, error){
	"title": func(ctx context.Context, db *store.DB, f *setFlags, was idrl.SessionSpec) (string, error) {
		return fmt.Sprintf("is called %q; before it was called %q", f.spec.Title, was.Title), db.Rename(ctx, was.ID, f.spec.Title, byCommand, time.Now())
	},
	"budget": func(ctx context.Context, db *store.DB, f *setFlags, was idrl.SessionSpec) (string, error) {
		return fmt.Sprintf("now wants %s; before it was %s", wanted(f.spec.Budget), wanted(was.Budget)), db.SetBudget(ctx, was.ID, f.spec.Budget, byCommand, time.Now())
	},
	"tags": func(ctx context.Context, db *store.DB, f *setFlags, was idrl.SessionSpec) (string, error) {
		return "now has " + tagged(f.spec.Tags) + "; before it had " + tagged(was.Tags), db.SetTags(ctx, was.ID, f.spec.Tags, byCommand, time.Now())
	},
	"authors": onCard, "licence": onCard, "recruitment": onCard, "payment": onCard,
}

// onCard changes the parts of the data card that are given.
func onCard(ctx context.Context, db *store.DB, f *setFlags, was idrl.SessionSpec) (string, error) {
	is := was
	f.given.Visit(func(g *flag.Flag) {
		if s, ok := settings.Find(g.Name); ok && slices.Contains(cardKeys, g.Name) {
			s.Copy(&is, f.spec)
		}
	})
	return "has another data card", db.SetCard(ctx, was.ID, is.Card(), byCommand, time.Now())
}

// cardKeys are the settings that make up the data card.
var cardKeys = []string{"authors", "licence", "recruitment", "payment"}

func (f *setFlags) declare(fs *flag.FlagSet) {
	f.given = fs
	dataFlag(fs, &f.data)
	sessionFlag(fs, &f.session)
	settings.DeclareOnly(fs, &f.spec, slices.Sorted(maps.Keys(setters))...)
	instructionsFileFlag(fs, &f.instructions)
	consentFileFlag(fs, &f.consent)
}

func sessionSetCommand() command {
	c := subcommand("session set", "change the settings that can change while a session runs", (*setFlags).declare,
		"Changes the title, the number of answers wanted, the tags, what data cards and reports say, and what annotators read. A complete session continues if the number\n"+
			"exceeds its answers; a session ends if it does not. New instructions are a new version, which every annotator is\n"+
			"shown before the next answer. A running server applies the change within seconds.",
		func(ctx context.Context, std stdio, f *setFlags) error {
			var keys []string
			f.given.Visit(func(g *flag.Flag) {
				if _, ok := setters[g.Name]; ok && !(slices.Contains(cardKeys, g.Name) && slices.ContainsFunc(keys, func(k string) bool { return slices.Contains(cardKeys, k) })) { // all of a card are set together
					keys = append(keys, g.Name)
				}
			})
			if len(keys) == 0 && f.instructions == "" && f.consent == "" {
				return fmt.Errorf("%w: nothing to change: give --title, --budget, --tags, --authors, --licence, --recruitment, --payment, --instructions-file or --consent-file", errUsage)
			}
			return withSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
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
				for _, key := range keys {
					what, err := setters[key](ctx, db, f, spec)
					if err != nil {
						return err
					}
					fmt.Fprintf(std.Out, "Session %s %s.\n", spec.ID, what)
				}
				return nil
			})
		})
	c.Usage, c.Example = "[ID] [--budget N] [--title TITLE] [--instructions-file FILE] [flags]", c.Example+" --budget 60"
	return c
}

// tagged says which tags a text has.
func tagged(text string) string {
	if tags := idrl.Tags(text); len(tags) > 0 {
		return "the tags " + strings.Join(tags, ", ")
	}
	return "no tags"
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
