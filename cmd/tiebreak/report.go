package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"tiebreak/envs"
	shared "tiebreak/internal/base/command"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
	"tiebreak/internal/train/training"
	"tiebreak/store"
	"tiebreak/web"
	"tiebreak/web/paper"
)

// paperFlags are the flags of report.
type paperFlags struct {
	own                own
	data, session, out string
}

func (f *paperFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	sessionFlag(fs, &f.session)
	ownFlags(fs, &f.own)
	fs.StringVar(&f.out, "o", "", "new `file` for the report; default tiebreak-SESSION-report.html")
}

func reportCommand() command {
	c := shared.With(ofFolder("report", "write a report of a session or an arena for a publication, as one HTML file",
		"Writes what was asked, the result with its limits, every chart with a caption, the people by pseudonym, the numbers, the text\n"+
			"of a methods section with its references, a data card and all settings. The file has no scripts and needs no server: open it in a\n"+
			"browser, print it, or take parts of it. It is the file that the page Data offers. The numbers are computed from the recorded answers, which can take\n"+
			"minutes in a session of thousands. The server may be running. docs/dashboard.md describes the contents."),
		(*paperFlags).declare, runReport)
	c.Usage, c.Example = "[ID] [-o FILE] [flags]", "tiebreak report ID --data tiebreak-data -o report.html"
	return c
}

func runReport(ctx context.Context, std stdio, f *paperFlags) error {
	list, err := environments(f.own.at(f.data))
	if err != nil {
		return err
	}
	return withSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
		source, err := paperSource(ctx, db, list, spec.ID)
		if err != nil {
			return err
		}
		out := cmp.Or(f.out, fmt.Sprintf("tiebreak-%s-report.html", spec.ID))
		if err := export.NewFile(out, func(w io.Writer) error { return paper.Write(w, source) }); err != nil {
			return err
		}
		fmt.Fprintf(std.Out, "The report is in %s.\n", out)
		return nil
	})
}

// paperSource returns what a report on a recorded session is written from.
func paperSource(ctx context.Context, db *store.DB, list envs.List, id idrl.SessionID) (out paper.Source, err error) {
	rec, err := db.Load(ctx, id)
	if err != nil {
		return out, err
	}
	course, err := db.Course(ctx, id, training.MostChanges)
	if err != nil {
		return out, err
	}
	if out.Quality, err = reportOf(list, rec, course); err != nil {
		return out, err
	}
	cfg, err := sessionConfig(list, rec)
	if err != nil {
		return out, err
	}
	cfg.Journal, cfg.Log = db, slog.New(slog.DiscardHandler)
	now, err := session.PresentOf(ctx, cfg)
	if err != nil {
		return out, err
	}
	out.Spec, out.Status, out.Insight, out.Scores = cfg.Record.Spec, now.Status, now.Insight, now.Scores
	if out.Spec.IsArena() {
		out.Insight = nil
		if out.Arena, _, err = arenaResult(ctx, db, rec); err != nil {
			return out, err
		}
	}
	return describePaper(ctx, db, list, out)
}

// describePaper adds the environment, the people and the program to the source of a report.
func describePaper(ctx context.Context, db *store.DB, list envs.List, out paper.Source) (paper.Source, error) {
	name, _, _ := strings.Cut(out.Spec.Env, "@") // a model of a user's own has a version
	out.Env, out.Program = name, thisProgram()
	shown := &choices{list: func() envs.List { return list }, made: map[string]web.EnvChoice{}}
	choice, ok := shown.one(name)
	if ok {
		out.Env = choice.Title
	}
	out.Purpose = web.PurposeOf(choice, out.Spec)
	joined, err := db.Annotators(ctx, out.Spec.ID)
	out.Withdrawn = web.Withdrawn(joined)
	return out, err
}
