package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"tiebreak/envs"
	"tiebreak/internal/base/record"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/data/bundle"
	"tiebreak/internal/data/episodes"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
	"tiebreak/internal/session/outcome"
	"tiebreak/internal/train/training"
	"tiebreak/store"
)

// exportFlags are the flags of export.
type exportFlags struct {
	own                        own
	data, session, format, out string
	after, answers, clips      string // of a bundle
	all, participants          bool
	good                       float64 // share, of the labels beside a data set
}

func (f *exportFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	fs.StringVar(&f.session, "session", "", "`id` of the session; without it the sessions are listed")
	fs.StringVar(&f.format, "format", export.Formats()[0], "format: "+strings.Join(export.Formats(), ", ")+"; steps, the raw steps of the trajectories behind the answers;\n"+
		export.PracticeFormat+", the answers to practice questions; "+
		export.FlagsFormat+", the notes of annotators about questions; "+
		export.NetworksFormat+", the learnt reward and the policies, as files in the folder --out;\n"+
		bundle.Format+", all of this and more as a data set for other programs (docs/datasets.md), in --out;\n"+
		"or "+episodes.Format+", of a session about recordings: preferences and scores by episode, to stand beside the data set, in --out")
	fs.StringVar(&f.out, "out", "", "new `folder` for the files of --format "+export.NetworksFormat+", "+bundle.Format+" or "+episodes.Format+"; of the last two also a file that ends in .zip")
	fs.Float64Var(&f.good, "good-share", episodes.GoodShare, "`share` of the episodes of each task that --format "+episodes.Format+" calls good, the best by their scores")
	fs.StringVar(&f.after, "after", "", "only answers after this one: its `id`, or its number in the log, such as cursor.seq of the meta.json of an earlier bundle; of a bundle")
	fs.StringVar(&f.answers, "answers", allAnswers, "which answers a bundle contains: "+allAnswers+", with those marked that were undone and those of annotators who are left out; or "+countingAnswers+", without them")
	fs.StringVar(&f.clips, "clips", noClips, "format of the clips of a bundle as pictures: "+strings.Join(bundleClips(), ", ")+"; mp4 needs ffmpeg")
	fs.BoolVar(&f.all, "all", false, "include answers of annotators who are left out, marked in the column left_out")
	fs.BoolVar(&f.participants, "participants", false, "add the ids that crowd platforms gave to people, studies and submissions; they identify people")
	ownFlags(fs, &f.own)
}

func exportCommand() command {
	return shared.With(command{
		Name: "export", Summary: "write the answers of a session as JSON lines or CSV, or what it has learnt", Usage: "[ID] [flags]", Unflagged: unflagged,
		About: "Writes one line per answer to standard output; docs/datasets.md explains the columns. With --format networks\n" +
			"it writes the learnt reward and the policies into a new folder, for other programs: networks in the format\n" +
			"safetensors with descriptions as JSON; docs/datasets.md explains them. With --format bundle it writes everything\n" +
			"as a data set: tables in Parquet, trajectories, clips; docs/datasets.md explains it. With --format lerobot it writes\n" +
			"what people said of recorded episodes by their numbers, for the trainer of the LeRobot data set that they are from.\n" +
			"It reads one snapshot of the database and the server may be running. Without an id it lists the sessions.",
		Example: "tiebreak export ID --data tiebreak-data --format csv > answers.csv\n" +
			"  tiebreak export ID --data tiebreak-data --format networks --out learnt\n" +
			"  tiebreak export ID --data tiebreak-data --format bundle --out bundle.zip\n" +
			"  tiebreak export ID --data tiebreak-data --format lerobot --out labels",
	}, (*exportFlags).declare, runExport)
}

func runExport(ctx context.Context, std stdio, f *exportFlags) error {
	if err := f.check(); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	return reading(ctx, f.data, func(db *store.DB) error { return f.write(ctx, std, db) })
}

// write writes what a session has.
func (f *exportFlags) write(ctx context.Context, std stdio, db *store.DB) (err error) {
	if f.session == "" {
		return listSessions(ctx, std, db)
	}
	spec, err := db.Spec(ctx, idrl.SessionID(f.session))
	if err != nil {
		return fmt.Errorf("%w; 'tiebreak export --data %s' lists the sessions", err, f.data)
	}
	if f.format == export.NetworksFormat {
		return exportNetworks(ctx, std, db, spec.ID, f)
	}
	if f.format == bundle.Format {
		return exportBundle(ctx, std, db, spec.ID, f)
	}
	if f.format == episodes.Format {
		return exportEpisodes(ctx, std, db, spec.ID, f)
	}
	out := bufio.NewWriter(std.Out)
	if f.format == export.StepsFormat {
		err = exportSteps(ctx, out, db, spec.ID)
		return errors.Join(err, out.Flush())
	}
	if f.format == export.PracticeFormat {
		err = db.PracticeAnswers(ctx, spec.ID, func(p record.Practice, k record.Known) error { return export.WritePractice(out, spec.ID, p, k) })
		return errors.Join(err, out.Flush())
	}
	if f.format == export.FlagsFormat {
		list, err := db.Flags(ctx, spec.ID)
		return errors.Join(err, export.WriteFlags(out, spec.ID, list), out.Flush())
	}
	if spec, err = training.NameFeatures(envs.Catalogue(), spec); err != nil {
		return fmt.Errorf("session %s was made by a version that did not record the names of features: %w; start 'tiebreak serve' with the environment of the session, and export on the session's page", spec.ID, err)
	}
	rows := export.Rows(func(yield func(export.Row) error) error { return db.Rows(ctx, spec.ID, yield) })
	if !f.all {
		rows = export.Counting(rows)
	}
	if f.participants {
		warnOf(std.Err, "--participants")
		who, err := db.Participants(ctx, spec.ID)
		if err != nil {
			return err
		}
		return errors.Join(export.WriteWithParticipants(out, f.format, spec, rows, who), out.Flush())
	}
	err = export.Write(out, f.format, spec, rows)
	return errors.Join(err, out.Flush())
}

// check returns an error of kind Invalid if flags are wrong or do not fit together.
func (f *exportFlags) check() error {
	if f.format != bundle.Format && (f.after != "" || f.answers != allAnswers || f.clips != noClips) {
		return idrl.Errorf(idrl.Invalid, "--after, --answers and --clips are for --format %s", bundle.Format)
	}
	if f.format != episodes.Format && f.good != episodes.GoodShare {
		return idrl.Errorf(idrl.Invalid, "--good-share is for --format %s", episodes.Format)
	}
	switch f.format {
	case bundle.Format:
		return f.checkBundle()
	case episodes.Format:
		return f.checkEpisodes()
	case export.NetworksFormat:
		if f.out == "" && f.session != "" {
			return idrl.Errorf(idrl.Invalid, "--format %s writes several files: name a new folder for them with --out", f.format)
		}
		return nil
	case export.StepsFormat, export.PracticeFormat, export.FlagsFormat:
	default:
		if err := export.CheckFormat(f.format); err != nil {
			return fmt.Errorf("%w, %s, %s, %s, %s, %s or %s", err, export.StepsFormat, export.PracticeFormat, export.FlagsFormat, export.NetworksFormat, bundle.Format, episodes.Format)
		}
	}
	if f.out != "" {
		return idrl.Errorf(idrl.Invalid, "--out is for the formats %s, %s and %s; the others are written to standard output", export.NetworksFormat, bundle.Format, episodes.Format)
	}
	return nil
}

// exportNetworks writes the reward and the policies of a session into a folder.
func exportNetworks(ctx context.Context, std stdio, db *store.DB, id idrl.SessionID, f *exportFlags) error {
	if err := export.CheckFolder(f.out); err != nil {
		return err
	}
	list, err := environments(f.own.at(f.data))
	if err != nil {
		return err
	}
	source, err := learntSource(ctx, db, list, id)
	if err != nil {
		return err
	}
	files, err := outcome.Files(source)
	if err != nil {
		return err
	}
	if err := export.WriteFolder(f.out, files); err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "%d files in %s; index.json lists them.\n", len(files), f.out)
	if best := source.Review.Best; best.Params == nil {
		fmt.Fprintf(std.Out, "The recommended policy %s has no file: for policies that were trained before the first answer, only clips are kept.\n", best.ID)
	}
	return nil
}

// learntSource returns the reward and the policies of a session from one read of the database.
func learntSource(ctx context.Context, db *store.DB, list envs.List, id idrl.SessionID) (s outcome.Source, err error) {
	rec, err := db.Load(ctx, id)
	if err != nil {
		return s, err
	}
	return learntOf(db, list, rec)
}

// learntOf returns the reward and the policies of the session of a record.
func learntOf(db *store.DB, list envs.List, rec record.Record) (s outcome.Source, err error) {
	cfg, err := sessionConfig(list, rec)
	if err != nil {
		return s, err
	}
	cfg.Journal, cfg.Log = db, slog.New(slog.DiscardHandler) // the names of raw steps are hashes of their content, so they do not change
	s.Spec = cfg.Record.Spec
	if s.Env, err = training.Environment(list, s.Spec); err != nil {
		return s, err
	}
	past, err := training.Recorded(list, s.Spec)
	if err != nil {
		return s, err
	}
	s.Acted = func(c idrl.Candidate) (name string, rollouts []string, ok bool) {
		p, ok := training.Acted(past, c)
		if !ok {
			return "", nil, false
		}
		return p.Name(), p.Rollouts(), true
	}
	s.Review, err = session.ReviewRecord(cfg)
	return s, err
}

// exportSteps writes the raw steps of the trajectories of the answered clips.
func exportSteps(ctx context.Context, out io.Writer, db *store.DB, session idrl.SessionID) error {
	var names []idrl.StepsID
	err := db.AnsweredSteps(ctx, session, func(name idrl.StepsID) error {
		names = append(names, name)
		return nil
	})
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return idrl.Errorf(idrl.NotFound, "no raw steps are stored for the clips of the answered questions (docs/datasets.md)")
	}
	for _, name := range names {
		b, err := db.Steps(ctx, session, name)
		if err != nil {
			return err
		}
		s, err := steps.Decode(name, b)
		if err != nil {
			return err
		}
		if err := export.WriteSteps(out, name, s); err != nil {
			return err
		}
	}
	return nil
}

func listSessions(ctx context.Context, std stdio, db *store.DB) error {
	list, err := studiesOf(ctx, db)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return idrl.Errorf(idrl.NotFound, "there is no session yet; 'tiebreak demo' makes one")
	}
	for _, s := range list {
		fmt.Fprintf(std.Out, "%s  %-10s %-17s %5d answers  %s\n", s.Spec.ID, s.Spec.Env, s.Spec.Kind, s.Answers, s.Spec.Title)
	}
	return nil
}
