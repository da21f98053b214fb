package main

import (
	"context"
	"flag"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"
	"tiebreak/internal/train/training"
	"tiebreak/store"
)

type qualityFlags struct {
	own           own
	data, session string
	json          bool
}

func (f *qualityFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	sessionFlag(fs, &f.session)
	ownFlags(fs, &f.own)
	fs.BoolVar(&f.json, "json", false, "write JSON in place of a table")
}

func qualityCommand() command {
	return subcommand("quality", "how annotators answer, and how well they agree", (*qualityFlags).declare,
		"Sums up the answers of a session that count: for each annotator how fast they are, how often the left clip wins, and how often\n"+
			"they say the same when a question comes again or answer gold questions as the researcher does; between annotators raw agreement, Krippendorff's alpha, Fleiss'\n"+
			"and Cohen's kappa over the questions that several of them answered. Intervals are of 95 %, by the bootstrap over questions.\n"+
			"With --noise-model own, also how each answers by the posterior: the probability that they click at random, the noise of meant answers,\n"+
			"the share of lapses, the width of ties, and the offset and scale of ratings (docs/methods.md, section 2.4).\n"+
			"The server may be running.",
		func(ctx context.Context, std stdio, f *qualityFlags) error {
			list, err := environments(f.own.at(f.data))
			if err != nil {
				return err
			}
			return besideSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				rec, err := db.Labelling(ctx, spec.ID)
				if err != nil {
					return err
				}
				q, err := reportOf(list, rec)
				if err != nil {
					return err
				}
				if !f.json {
					return q.Print(std.Out)
				}
				return printJSON(std.Out, q)
			})
		})
}

// reportOf returns the report on the annotators of a recorded session.
func reportOf(list envs.List, r idrl.Record) (quality.Report, error) {
	q := quality.Of(r.Log, r.Assignments, r.Spec.Seed)
	q.KnowGold(r.Log, idrl.GoldRight(r.Log, r.Assignments, r.Settings.Gold.Questions))
	manners, err := training.Manners(list, r)
	q.Know(manners)
	return q, err
}
