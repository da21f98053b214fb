package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// knownFlags are the flags of session known.
type knownFlags struct {
	data, session, clips, answer, use, note string
	every                                   int
}

func (f *knownFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	sessionFlag(fs, &f.session)
	fs.StringVar(&f.clips, "clips", "", "`ids` of the clips of a question, a and b with a comma between them, or one, as in clip_a and clip_b of an export")
	fs.StringVar(&f.answer, "answer", "", "the right `answer`: a, b or equal; of a rating a number from 0 to 10")
	fs.StringVar(&f.use, "use", string(record.ForPractice), "use of the question: practice, gold, or none")
	fs.StringVar(&f.note, "note", "", "a `sentence` that annotators read after a practice answer")
	fs.IntVar(&f.every, "gold-every", -1, "average number of `questions` of an annotator for each gold question; 0: no gold questions")
}

func sessionKnownCommand() command {
	c := subcommand("session known", "give the right answer to a question, for practice or as gold", (*knownFlags).declare,
		"Lists the questions of a session to which you have given the right answer. With --clips it adds one, or changes it.\n"+
			"Practice questions are asked before the first question of an annotator, who then reads the right answer and your sentence.\n"+
			"Gold questions are asked among the others and look like them; 'tiebreak quality' and exports say who answered them right. The\n"+
			"session's page does the same and shows the clips. A running server applies the change within seconds.",
		func(ctx context.Context, std stdio, f *knownFlags) error {
			return withSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				return f.run(ctx, std, db, spec)
			})
		})
	c.Usage, c.Example = "[ID] [--clips A,B --answer WHICH --use FOR] [flags]", c.Example+" --clips 3f2c…,9a01… --answer a --use gold"
	return c
}

func (f *knownFlags) run(ctx context.Context, std stdio, db *store.DB, spec idrl.SessionSpec) error {
	if f.every >= 0 {
		if err := db.SetGoldEvery(ctx, spec.ID, f.every, byCommand, time.Now()); err != nil {
			return usageIfInvalid(err)
		}
		fmt.Fprintf(std.Out, "Gold questions come %s; before it was %s.\n", howOften(f.every), howOften(spec.GoldEvery))
	}
	if f.clips != "" {
		return f.set(ctx, std, db, spec)
	}
	if f.answer != "" || f.note != "" {
		return fmt.Errorf("%w: --answer and --note need --clips, which names the question", errUsage)
	}
	list, err := db.Known(ctx, spec.ID)
	if err != nil {
		return err
	}
	none := "No right answer has been given yet. Give one with --clips and --answer, or on the session's page."
	return listed(std.Out, list, none, "VERSION\tUSE\tANSWER\tCLIPS\tBY\tAT\tNOTE\t", func(w io.Writer, k record.Known) {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", k.Version, k.Use, k.Answer(), joinClips(k.Query.Clips), k.By, when(k.At), k.Note)
	})
}

func (f *knownFlags) set(ctx context.Context, std stdio, db *store.DB, spec idrl.SessionSpec) error {
	k := record.Known{Use: record.Use(f.use), Note: f.note}
	k.SetAnswer(spec.Kind, f.answer)
	switch {
	case k.Use == record.Unused && spec.Kind.Comparison():
		k.Choice = idrl.Equal // the value is not used then
	case k.Use == record.Unused:
		k.Rating = 0
	case math.IsNaN(k.Rating):
		return fmt.Errorf("%w: --answer must be a number from 0 to 10; got %q", errUsage, f.answer)
	}
	var clips []idrl.ClipID
	for name := range strings.SplitSeq(f.clips, ",") {
		clips = append(clips, idrl.ClipID(strings.TrimSpace(name)))
	}
	version, err := db.SetKnown(ctx, spec.ID, clips, k, byCommand, time.Now())
	if err != nil {
		return usageIfInvalid(err)
	}
	fmt.Fprintf(std.Out, "Saved as version %d of the known answers of session %s.\n", version, spec.ID)
	return nil
}

func howOften(every int) string {
	if every == 0 {
		return "never"
	}
	return fmt.Sprintf("once in about %d questions", every)
}

func joinClips(ids []idrl.ClipID) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = string(id)
	}
	return strings.Join(names, ",")
}
