package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"

	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
	"tiebreak/internal/session/view"
	"tiebreak/store"
)

// scoresFlags are the flags of session scores.
type scoresFlags struct {
	own           own
	data, session string
	json          bool
}

func (f *scoresFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	sessionFlag(fs, &f.session)
	ownFlags(fs, &f.own)
	fs.BoolVar(&f.json, "json", false, "write JSON in place of a table, with every point of the curves")
}

func sessionScoresCommand() command {
	return subcommand("session scores", "show how well each condition predicts held-out comparisons", (*scoresFlags).declare,
		"Writes how well the posterior of each condition of a session predicts the held-out comparisons: the accuracy\n"+
			"and the log loss, after all answers and after equally many, with 95 % intervals (docs/study.md, section 4).\n"+
			"The numbers are those of the session's page. They are computed from the recorded answers, which can take a minute in a\n"+
			"session of thousands. The server may be running.",
		func(ctx context.Context, std stdio, f *scoresFlags) error {
			list, err := environments(f.own.at(f.data))
			if err != nil {
				return err
			}
			return withSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				if !spec.Compares() {
					return idrl.Errorf(idrl.Invalid, "session %s has one strategy and no held-out comparisons, so there is nothing to compare; see --conditions and --held-out of 'tiebreak session create'", spec.ID)
				}
				rec, err := db.Load(ctx, spec.ID)
				if err != nil {
					return err
				}
				cfg, err := sessionConfig(list, rec)
				if err != nil {
					return err
				}
				cfg.Journal, cfg.Log = db, slog.New(slog.DiscardHandler)
				scores, err := session.ScoresOf(ctx, cfg)
				if err != nil {
					return err
				}
				if !f.json {
					return printSessionScores(std.Out, scores)
				}
				return printJSON(std.Out, scores)
			})
		})
}

// printSessionScores writes the scores of one session as a table.
func printSessionScores(out io.Writer, s view.ConditionScores) error {
	fmt.Fprintf(out, "held out: %d comparisons, %d answers", s.Questions, s.Replies)
	if s.Again > 0 {
		fmt.Fprintf(out, ", %d of them to a pair that had been answered (the first answer counts)", s.Again)
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	head := "condition\tshare\tquestions\tanswers\taccuracy\tlog loss"
	if s.Equal > 0 {
		head += fmt.Sprintf("\taccuracy after %d answers each\tdifference from %s then, in points", s.Equal, s.Conditions[0].Name)
	}
	fmt.Fprintln(w, head)
	line := func(name string, c view.ConditionScore, lead *view.Lead) {
		right, loss := "-", "-"
		if p, ok := c.Last(); ok {
			right, loss = shareText(p), fmt.Sprintf("%.2f", p.LogLoss)
		}
		fmt.Fprintf(w, "%s\t%.3g\t%d\t%d\t%s\t%s", name, c.Share, c.Questions, c.Answers, right, loss)
		if p, ok := c.At(s.Equal); ok && s.Equal > 0 && name != allTogether {
			fmt.Fprintf(w, "\t%s", shareText(p))
		}
		if lead != nil {
			fmt.Fprintf(w, "\t%+.0f (%+.0f to %+.0f)", 100*lead.Mean, 100*lead.Low, 100*lead.High)
		}
		fmt.Fprintln(w)
	}
	for i, c := range s.Conditions {
		var lead *view.Lead
		if i > 0 && i <= len(s.Leads) {
			lead = &s.Leads[i-1]
		}
		line(string(c.Name), c, lead)
	}
	line(allTogether, s.All, nil)
	return w.Flush()
}

// shareText writes an accuracy with its interval.
func shareText(p view.ScorePoint) string {
	if p.Decisive == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %% (%.0f to %.0f)", 100*p.Accuracy(), 100*p.Low, 100*p.High)
}
