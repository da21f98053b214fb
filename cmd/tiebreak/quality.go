package main

import (
	"context"
	"flag"

	"tiebreak/envs"
	"tiebreak/internal/base/record"
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
	return subcommand("quality", "show how annotators answer and how well they agree", (*qualityFlags).declare,
		"Summarises the answers of a session that count. For each annotator: the response time, how often they choose the left clip, and how\n"+
			"often they agree with themselves when a question is repeated, and with the researcher on gold questions; and where their time went: seconds a question, the share of the time on questions whose answers\n"+
			"changed the recommended policy, and on what they could not tell, and how many answers took three times their own median or longer. Between annotators: raw agreement,\n"+
			"Krippendorff's alpha, Fleiss' and Cohen's kappa over the questions that several of them answered. The 95 % intervals are from the bootstrap over questions.\n"+
			"With --noise-model own, also the reliability of each annotator under the posterior: the probability that they click at random, the noise of their\n"+
			"answers, the share of lapses, the tie width, and the offset and scale of ratings (docs/methods.md, section 2.4).\n"+
			"The server may be running.",
		func(ctx context.Context, std stdio, f *qualityFlags) error {
			list, err := environments(f.own.at(f.data))
			if err != nil {
				return err
			}
			return withSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				rec, err := db.Labelling(ctx, spec.ID)
				if err != nil {
					return err
				}
				course, err := db.Course(ctx, spec.ID, training.MostChanges)
				if err != nil {
					return err
				}
				q, err := reportOf(list, rec, course)
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
func reportOf(list envs.List, r record.Record, course record.Course) (quality.Report, error) {
	q := quality.Of(r.Log, r.Assignments, r.Spec.Seed)
	q.KnowGold(r.Log, record.GoldRight(r.Log, r.Assignments, r.Settings.Gold.Questions))
	q.KnowSpent(r.Log, training.Changes(r.Spec, course))
	manners, err := training.Manners(list, r)
	q.Know(manners)
	return q, err
}
