package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"tiebreak/envs"
	"tiebreak/internal/data/bundle"
	"tiebreak/internal/data/episodes"
	"tiebreak/internal/data/export"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/bradley"
	"tiebreak/internal/train/training"
	"tiebreak/store"

	"gonum.org/v1/gonum/floats"
)

// checkEpisodes returns an error of kind Invalid if the flags of labels beside a data set are wrong.
func (f *exportFlags) checkEpisodes() error {
	switch {
	case f.out == "" && f.session != "":
		return idrl.Errorf(idrl.Invalid, "--format %s writes several files: name a new folder for them with --out, or a file that ends in .zip", f.format)
	case f.all || f.participants:
		return idrl.Errorf(idrl.Invalid, "--all and --participants are for other formats: labels beside a data set are the answers that count, without ids of people")
	}
	return episodes.CheckShare(f.good)
}

// exportEpisodes writes the labels of a session about recordings as a folder or a zip archive, which appears completely or not at all.
func exportEpisodes(ctx context.Context, std stdio, db *store.DB, id idrl.SessionID, f *exportFlags) error {
	list, err := environments(f.own.at(f.data))
	if err != nil {
		return err
	}
	cfg := bundles{db, func() envs.List { return list }}.besideDataSet(id)
	cfg.GoodShare = f.good
	if strings.HasSuffix(f.out, ".zip") {
		err = export.NewFile(f.out, func(w io.Writer) error { return episodes.WriteZip(ctx, w, labelsName(id), cfg) })
	} else {
		err = export.NewFolder(f.out, func(dir string) error { return episodes.Write(ctx, bundle.Folder(dir), cfg) })
	}
	if err == nil {
		fmt.Fprintf(std.Out, "The labels are in %s; its README.md describes the files.\n", f.out)
	}
	return err
}

func labelsName(id idrl.SessionID) string { return fmt.Sprintf("tiebreak-%s-labels", id) }

// WriteLabels implements web.Bundles.
func (b bundles) WriteLabels(ctx context.Context, id idrl.SessionID, w io.Writer, share float64) error {
	cfg := b.besideDataSet(id)
	cfg.GoodShare = share
	return episodes.WriteZip(ctx, w, labelsName(id), cfg)
}

// besideDataSet returns the configuration of the labels of a session beside a data set.
func (b bundles) besideDataSet(id idrl.SessionID) episodes.Config {
	of := b.config(id)
	return episodes.Config{
		Read: of.Read, Program: of.Program, Complete: of.Complete, Acted: training.Acted, Scores: b.scores, Uncut: of.Uncut, GoodShare: episodes.GoodShare,
		Recorded: func(spec idrl.SessionSpec) (*recordings.Set, error) { return training.Recorded(b.envs(), spec) },
	}
}

// scores returns what the episodes of a session about recordings are worth: the posterior of the return by which it compares policies. Of an arena
// it returns the strengths of the entrants.
func (b bundles) scores(ctx context.Context, from bundle.Source, set *recordings.Set) ([]episodes.Score, error) {
	rec, err := from.Load(ctx)
	if err != nil {
		return nil, err
	}
	if rec.Spec.IsArena() {
		r, _, err := bradley.NewReport(rec)
		if err != nil {
			return nil, err
		}
		return strengths(rec.Spec.Arena, r), nil
	}
	learnt, err := learntOf(b.db, b.envs(), rec)
	if err != nil {
		return nil, err
	}
	n, _ := set.Size()
	out := make([]episodes.Score, n)
	p := learnt.Review.Posterior
	mean, spread := p.Mean(nil), make([]float64, p.Dim())
	for i := range out {
		phi := set.EpisodeFeatures(i, learnt.Spec.Return == idrl.MeanReturn)
		p.CovMul(spread, phi)
		out[i] = episodes.Score{Mean: floats.Dot(mean, phi), Std: math.Sqrt(max(0, floats.Dot(phi, spread)))}
	}
	return out, nil
}

// normal95 is how many standard deviations the 95 % interval of a normal distribution goes to either side.
const normal95 = 1.959963984540054

// strengths returns those of the entrants of an arena, in their order.
func strengths(arena idrl.Arena, r bradley.Report) []episodes.Score {
	out := make([]episodes.Score, len(arena.Entrants))
	for _, e := range r.Entrants {
		out[slices.Index(arena.Titles(), e.Title)] = episodes.Score{Mean: e.Strength, Std: (e.High - e.Low) / (2 * normal95)}
	}
	return out
}
