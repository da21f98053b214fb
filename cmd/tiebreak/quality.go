package main

import (
	"context"
	"encoding/json"
	"flag"

	"tiebreak/internal/idrl"
	"tiebreak/internal/quality"
	"tiebreak/store"
)

type qualityFlags struct {
	data, session string
	json          bool
}

func (f *qualityFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	sessionFlag(fs, &f.session)
	fs.BoolVar(&f.json, "json", false, "write JSON in place of a table")
}

func qualityCommand() command {
	return subcommand("quality", "how annotators answer, and how well they agree", (*qualityFlags).declare,
		"Sums up the answers of a session that count: for each annotator how fast they are, how often the left clip wins, and how often\n"+
			"they say the same when a question comes again; between annotators raw agreement, Krippendorff's alpha, Fleiss'\n"+
			"and Cohen's kappa over the questions that several of them answered. Intervals are of 95 %, by the bootstrap over questions.\n"+
			"The server may be running.",
		func(ctx context.Context, std stdio, f *qualityFlags) error {
			return besideSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				rec, err := db.Load(ctx, spec.ID)
				if err != nil {
					return err
				}
				q := quality.Of(rec.Log, spec.Seed)
				if !f.json {
					return q.Print(std.out)
				}
				enc := json.NewEncoder(std.out)
				enc.SetIndent("", "  ")
				return enc.Encode(q)
			})
		})
}
