package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/data/labels"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/session"
	"tiebreak/internal/train/training"
	"tiebreak/store"
)

// maxDrawn is the number of bytes of clips of imported comparisons that are drawn.
const maxDrawn = 256 << 20

// record makes the session in dir, and copies it to db.
func (in *labelImport) record(ctx context.Context, db *store.DB, dir string) (err error) {
	made, err := store.Open(ctx, filepath.Join(dir, "made"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	if err := made.CreateSession(ctx, in.spec); err != nil {
		return err
	}
	if err := in.told.keep(ctx, made, in.spec.ID); err != nil {
		return err
	}
	who, err := made.CreateAnnotator(ctx, in.spec.ID, importer)
	if err != nil {
		return err
	}
	if err := in.generation(ctx, made); err != nil {
		return err
	}
	if err := in.answers(ctx, made, who); err != nil {
		return err
	}
	if in.set.Unseen() { // no question can be shown
		if _, _, err := made.Control(ctx, in.spec.ID, record.ActClose, byCommand, time.Now()); err != nil {
			return err
		}
	}
	in.spec, err = db.ImportMade(ctx, made, in.spec.ID, judge(), byCommand)
	return err
}

// generation records the first generation, with the clips that were compared.
func (in *labelImport) generation(ctx context.Context, db *store.DB) error {
	in.progress("reading the rollouts")
	t, err := training.New(in.list, in.spec)
	if err != nil {
		return err
	}
	model, err := training.Model(in.list, in.spec)
	if err != nil {
		return err
	}
	g, err := t.Train(ctx, idrl.TrainJob{Posterior: model.Prior(), Seed: in.spec.Seed, First: true})
	if err != nil {
		return err
	}
	if err := in.cut(ctx, db, g.Steps); err != nil {
		return err
	}
	if err := in.draw(ctx); err != nil {
		return err
	}
	for _, c := range in.clips {
		if _, known := g.Clips[c.ID]; !known {
			c.Snapshots = nil
			g.Clips[c.ID] = c
		}
	}
	return db.Adopt(ctx, in.spec.ID, g, 0)
}

// maxSteps is how many bytes of raw steps are recorded at once.
const maxSteps = 32 << 20

// cut cuts the compared segments, and records their raw steps unless they are known.
func (in *labelImport) cut(ctx context.Context, db *store.DB, known map[idrl.StepsID][]byte) (err error) {
	raw, size := map[idrl.StepsID][]byte{}, 0
	record := func() error {
		err := db.PutSteps(ctx, in.spec.ID, raw)
		raw, size = map[idrl.StepsID][]byte{}, 0
		return err
	}
	version := in.set.New().Spec().Version
	in.clips, err = labels.Cut(ctx, in.set, in.pairs, in.steps, func(t *idrl.Trajectory, episode int) (idrl.StepsID, error) {
		meta := idrl.Steps{Env: in.spec.Env, Version: version, Seed: in.spec.Seed, Episode: uint64(episode)} //nolint:gosec // not negative
		name, content, err := steps.Encode(steps.Of(t, meta))
		if err != nil || known[name] != nil {
			return name, err
		}
		if raw[name], size = content, size+len(content); size > maxSteps {
			err = record()
		}
		return name, err
	})
	if err != nil {
		return err
	}
	return record()
}

// draw draws the clips of the first comparisons.
func (in *labelImport) draw(ctx context.Context) (err error) {
	if in.set.Unseen() {
		return nil
	}
	env := in.set.New()
	in.drawn, err = labels.Draw(ctx, labels.Drawing{
		Pairs: in.pairs, Clips: in.clips, Most: maxDrawn,
		Encode:   func(c idrl.Clip) ([]byte, error) { return clip.Encode(env, c) },
		Progress: func(done int) { in.progress(fmt.Sprintf("drawing clip %d", done)) },
	})
	return err
}

// answers records the labels as answers.
func (in *labelImport) answers(ctx context.Context, db *store.DB, who idrl.AnnotatorID) error {
	rec, err := db.Load(ctx, in.spec.ID)
	if err != nil {
		return err
	}
	cfg, err := sessionConfig(in.list, rec)
	if err != nil {
		return err
	}
	cfg.Journal, cfg.Publisher, cfg.Log = db, noWatchers{}, slog.New(slog.DiscardHandler)
	s, err := session.New(cfg)
	if err != nil {
		return err
	}
	var all []session.Comparison
	for _, p := range in.pairs {
		q := idrl.NewComparison(in.clips[p.Segments[0]], in.clips[p.Segments[1]])
		all = append(all, session.Comparison{ID: idrl.AnswerID(fmt.Sprintf("label-%d", p.N)), Query: q, Choice: p.Choice})
	}
	return s.TakeIn(ctx, who, all, func(done int) { in.progress(fmt.Sprintf("learning from label %d of %d", done, len(all))) })
}

// noWatchers is a publisher without subscribers.
type noWatchers struct{}

// Publish implements session.Publisher.
func (noWatchers) Publish(idrl.SessionID, live.Event) {}
