package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tiebreak/envs"
	"tiebreak/internal/base/record"

	"tiebreak/internal/data/bundle"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/film"
	"tiebreak/internal/session/outcome"
	"tiebreak/internal/train/training"
	"tiebreak/store"
)

// Values of --answers and --clips.
const (
	allAnswers      = "all"
	countingAnswers = "counting"
	noClips         = "none"
)

// bundleClips returns the formats of clips in a bundle, the default first.
func bundleClips() []string { return []string{noClips, "gif", "mp4"} }

// clipBox is the box that the clips of a bundle fit in, pixels.
const clipWidth, clipHeight = 320, 240

// maxLearnt is the length of a log, in rows, up to which a bundle has the learnt reward and the
// policies as files: these need all of the log in memory.
const maxLearnt = 100_000

// checkBundle returns an error of kind Invalid if the flags of a bundle are wrong.
func (f *exportFlags) checkBundle() error {
	switch {
	case f.out == "" && f.session != "":
		return idrl.Errorf(idrl.Invalid, "--format %s writes several files: name a new folder for them with --out, or a file that ends in .zip", f.format)
	case f.answers != allAnswers && f.answers != countingAnswers:
		return idrl.Errorf(idrl.Invalid, "unknown --answers %q; use %s or %s", f.answers, allAnswers, countingAnswers)
	case !slices.Contains(bundleClips(), f.clips):
		return idrl.Errorf(idrl.Invalid, "unknown --clips %q; use %s", f.clips, strings.Join(bundleClips(), ", "))
	case f.all || f.participants:
		return idrl.Errorf(idrl.Invalid, "--all and --participants are for other formats: a bundle has all answers, unless --answers %s is given, and never ids of people", countingAnswers)
	}
	return nil
}

// exportBundle writes the bundle of a session as a folder or a zip archive, which appears
// completely or not at all.
func exportBundle(ctx context.Context, std stdio, db *store.DB, id idrl.SessionID, f *exportFlags) error {
	list, err := environments(f.own.at(f.data))
	if err != nil {
		return err
	}
	cfg := bundles{db, func() envs.List { return list }}.config(id)
	cfg.After, cfg.Counting = f.after, f.answers == countingAnswers
	if f.clips != noClips {
		cfg.Clips = f.clips
	}
	if strings.HasSuffix(f.out, ".zip") {
		err = export.NewFile(f.out, func(w io.Writer) error { return bundle.WriteZip(ctx, w, bundleName(id), cfg) })
	} else {
		err = export.NewFolder(f.out, func(dir string) error { return bundle.Write(ctx, bundle.Folder(dir), cfg) })
	}
	if err == nil {
		fmt.Fprintf(std.Out, "The bundle is in %s; its README.md and meta.json describe the contents.\n", f.out)
	}
	return err
}

func bundleName(id idrl.SessionID) string { return fmt.Sprintf("tiebreak-%s-bundle", id) }

// bundles writes bundles of the sessions of a database.
type bundles struct {
	db   *store.DB
	envs func() envs.List // there are now
}

// WriteBundle implements web.Bundles.
func (b bundles) WriteBundle(ctx context.Context, id idrl.SessionID, w io.Writer, opt bundle.Options) error {
	cfg := b.config(id)
	cfg.Options = opt
	return bundle.WriteZip(ctx, w, bundleName(id), cfg)
}

// config returns the configuration of a bundle with everything.
func (b bundles) config(id idrl.SessionID) bundle.Config {
	return bundle.Config{
		Read: func(ctx context.Context, f func(bundle.Source) error) error {
			return b.db.Read(ctx, id, func(r *store.Reading) error { return f(r) })
		},
		Program:  thisProgram(),
		Complete: func(spec idrl.SessionSpec) (idrl.SessionSpec, error) { return training.NameFeatures(b.envs(), spec) },
		Beliefs:  b.beliefs,
		Learnt:   b.learnt,
		Uncut:    func(ctx context.Context) (bool, error) { return stillCut(ctx, b.db, id) },
		Clip: func(ctx context.Context, w io.Writer, clip idrl.ClipID, format string) error {
			return b.film(ctx, w, id, clip, format)
		},
	}
}

// beliefs returns the decoder of the posteriors of a session.
func (b bundles) beliefs(spec idrl.SessionSpec, fits []record.LearntFit) (func(record.Snapshot) (idrl.Posterior, error), error) {
	first, err := training.Model(b.envs(), spec)
	if err != nil {
		return nil, err
	}
	learner, err := training.Learner(b.envs(), spec)
	if err != nil {
		return nil, err
	}
	models := map[int64]idrl.RewardModel{0: first}
	return func(s record.Snapshot) (idrl.Posterior, error) {
		m := models[s.Representation]
		if i := slices.IndexFunc(fits, func(f record.LearntFit) bool { return f.Version == s.Representation }); m == nil && i >= 0 && learner != nil {
			if _, m, err = learner.Open(s.Representation, fits[i].Content); err != nil {
				return nil, err
			}
			models[s.Representation] = m
		}
		if m == nil || s.Definition != record.PosteriorDefinition {
			return nil, nil
		}
		return m.Decode(s.Belief)
	}, nil
}

// learnt returns the learnt reward and the policies of a session as files.
func (b bundles) learnt(ctx context.Context, from bundle.Source) ([]export.File, error) {
	last, _, err := from.LastSeq(ctx)
	if err != nil {
		return nil, err
	}
	if last > maxLearnt {
		return nil, idrl.Errorf(idrl.NotFound, "the log has more than %d rows; 'tiebreak export --format %s' writes the reward and the policies", maxLearnt, export.NetworksFormat)
	}
	rec, err := from.Load(ctx)
	if err != nil {
		return nil, err
	}
	if rec.Spec.IsArena() {
		return arenaFiles(ctx, b.db, rec)
	}
	source, err := learntOf(b.db, b.envs(), rec)
	if err != nil {
		return nil, err
	}
	return outcome.Files(source)
}

// film writes a clip as a film.
func (b bundles) film(ctx context.Context, w io.Writer, session idrl.SessionID, id idrl.ClipID, format string) (err error) {
	media, err := b.db.ClipMedia(ctx, session, id)
	if err != nil {
		return err
	}
	c, err := clip.Decode(media)
	if err != nil {
		return fmt.Errorf("clip %s: %w", id, err)
	}
	f, err := film.New(film.Config{Clips: []*clip.Clip{c}, Width: clipWidth, Height: clipHeight, Speed: 1})
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "tiebreak-clip-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "clip."+format)
	if err := f.Save(ctx, path, format); err != nil {
		return err
	}
	content, err := os.ReadFile(path) //nolint:gosec // written above
	if err != nil {
		return err
	}
	_, err = w.Write(content)
	return err
}
