package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/questions"
	"tiebreak/store"
	"tiebreak/web/questionpage"
)

// questionsFlags are the flags of questions.
type questionsFlags struct {
	data, session, out string
	from, to           int
	force              bool
}

func (f *questionsFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	fs.StringVar(&f.session, "session", "", "`id` of the session; without it the sessions are listed")
	fs.StringVar(&f.out, "out", "questions", "new `folder` for the page and the strips")
	fs.IntVar(&f.from, "from", 1, "`number` of the first question, counted from 1 in the order of the replies")
	fs.IntVar(&f.to, "to", 0, "`number` of the last question; 0: no limit")
	fs.BoolVar(&f.force, "force", false, "write into a folder that is not empty; files of the same names are replaced")
}

func questionsCommand() command {
	return shared.With(command{
		Name: "questions", Summary: "write a page with a film strip of every question that a session has asked", Usage: "[ID] [flags]", Unflagged: unflagged,
		About: "Writes a page that shows every question as annotators saw it: a strip of frames of each clip, how much it moves,\n" +
			"and how different the two look, in body sizes; whether it could be answered, and whether it looks like one of\n" +
			"the same person's last 50 questions; the answer, its response time, and why the question was asked. The summary says\n" +
			"how many questions lack motion, are about clips that look alike or robots that have fallen, are repeats, mean the\n" +
			"same as three others among thirty, or are about two clips that are useless in most eyes.\n" +
			"The page is for researchers: it names policies. The command reads one snapshot of the database, and the server\n" +
			"may be running. docs/dashboard.md explains the numbers. Without an id it lists the sessions.",
		Example: "tiebreak questions ID --data tiebreak-data --out asked && xdg-open asked/index.html",
	}, (*questionsFlags).declare, runQuestions)
}

func (f *questionsFlags) check() error {
	switch {
	case f.from < 1 || f.to < 0:
		return fmt.Errorf("%w: --from must be at least 1, and --to at least 0; got %d and %d", errUsage, f.from, f.to)
	case f.to > 0 && f.to < f.from:
		return fmt.Errorf("%w: --to %d is before --from %d", errUsage, f.to, f.from)
	case f.out == "":
		return fmt.Errorf("%w: --out is empty; name a folder", errUsage)
	}
	return nil
}

func runQuestions(ctx context.Context, std stdio, f *questionsFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	return reading(ctx, f.data, func(db *store.DB) error { return f.write(ctx, std, db) })
}

// write writes the page.
func (f *questionsFlags) write(ctx context.Context, std stdio, db *store.DB) (err error) {
	if f.session == "" {
		return listSessions(ctx, std, db)
	}
	if !f.force {
		if err := questionpage.CheckFolder(f.out); err != nil {
			return err
		}
	}
	line := shared.NewProgressLine(std.Err)
	defer line.Clear()
	r, err := questionpage.Of(ctx, db, idrl.SessionID(f.session), func(done, total int) {
		line.Show(fmt.Sprintf("%d of %d questions measured", done, total))
	})
	if idrl.KindOf(err) == idrl.NotFound {
		return fmt.Errorf("%w; 'tiebreak questions --data %s' lists the sessions", err, f.data)
	}
	if err != nil {
		return err
	}
	if r.Questions, err = f.selected(r.Questions); err != nil {
		return err
	}
	r.Overwrite = f.force
	r.Progress = func(done, total int) { line.Show(fmt.Sprintf("%d of %d strips drawn", done, total)) }
	if err := r.Write(ctx, f.out); err != nil {
		return err
	}
	line.Clear()
	s := questions.Summarise(r.Questions)
	fmt.Fprintf(std.Out, "%d questions in %s: %d could not be answered (%d lack motion, %d are about clips that look alike, %d about fallen robots), %d are repeats, "+
		"%d show what was shown %d times before in %d questions, %d are about two useless clips (%d useless in the same way).\n",
		len(r.Questions), filepath.Join(f.out, questionpage.PageFile), s.Unanswered, s.Still, s.Alike, s.Fallen, s.Repeats,
		s.Often, questions.MostOften, questions.Sitting, s.Useless, s.SameUseless)
	if s.Unseen > 0 {
		fmt.Fprintf(std.Out, "These counts do not include %d questions whose clips cannot be measured; the page says why.\n", s.Unseen)
	}
	return nil
}

// selected returns the questions from --from to --to.
func (f *questionsFlags) selected(list []questions.Question) ([]questions.Question, error) {
	to := len(list)
	if f.to > 0 {
		to = min(to, f.to)
	}
	if len(list) == 0 {
		return nil, idrl.Errorf(idrl.NotFound, "no question of session %s has been answered yet", f.session)
	}
	if f.from > to {
		return nil, idrl.Errorf(idrl.Invalid, "--from %d is after the last question, number %d", f.from, to)
	}
	return list[f.from-1 : to], nil
}
