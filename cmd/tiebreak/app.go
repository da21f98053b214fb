package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/quality"
	"tiebreak/internal/session"
	"tiebreak/internal/session/outcome"
	"tiebreak/internal/session/view"
	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/elsewhere/byflags"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/training"
	"tiebreak/store"
	"tiebreak/web"
)

// An app has the parts of a server, connected.
type app struct {
	envs    func() envs.List // there are now
	db      *store.DB
	auth    *auth.Auth
	hub     live.Hub
	pool    *jobs.Pool
	idle    bool            // no process of this machine does trainings
	away    *workplace      // nil if no workers elsewhere are asked for
	bars    *elsewhere.Bars // what researchers say of workers on other machines
	manager *session.Manager
	web     *web.Server
	expired atomic.Int64 // leases of questions that ended without an answer

	notices *notices // of sessions, for researchers

	rehearser *rehearser  // of forms
	importer  *importDesk // of recordings, by requests

	before *before // what is checked before people are invited

	backedUp func(context.Context) (time.Time, error) // when the last whole backup was made, zero for never; nil: not known

	rest time.Duration // of site

	certs *certificates // that the server gets by itself; nil for none

	unwatch func() // ends the check of the database, the backups and the notices, and waits for them
	log     *slog.Logger
}

// openApp opens the data folder and connects the parts. The caller must close it. list returns the
// available environments, and worker is the command line of a worker process with the same ones;
// empty for this program's own.
func openApp(ctx context.Context, dir string, list func() envs.List, at site, log *slog.Logger, worker ...string) (*app, error) {
	db, err := store.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := db.ClaimBackups(ctx, &at.backups); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	a := &app{envs: list, db: db, auth: auth.New(auth.Config{Store: db, Accounts: db, Crowd: db, Tokens: db}), rest: at.rest, idle: at.away.here < 0, log: log}
	if at.backups.Every > 0 {
		a.backedUp = func(context.Context) (time.Time, error) { return at.backups.Last(), nil }
	}
	if a.pool, err = jobs.NewPool(jobs.Config{Store: db, Command: worker, Env: byflags.Pipes, Workers: at.away.here, Log: log}); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	a.bars = elsewhere.NewBars(db.WorkerBars, log)
	if a.away, err = at.away.open(ctx, dir, a.pool, a.bars.Of, log); err != nil {
		return nil, errors.Join(err, a.pool.Close(), db.Close())
	}
	a.manager = session.NewManager(db, a.build, log)
	a.notices = newNotices(a, at)
	if err := a.notices.restore(ctx); err != nil {
		return nil, errors.Join(err, a.pool.Close(), a.away.close(), db.Close())
	}
	a.before = &before{db: db, data: dir, setup: at.setup()}
	a.rehearser = &rehearser{a: a, worker: worker}
	if a.importer, err = newImportDesk(dir, at.recordings, db.Room, log); err != nil {
		return nil, errors.Join(err, a.pool.Close(), a.away.close(), db.Close())
	}
	shown := &choices{list: list, made: map[string]web.EnvChoice{}}
	show := newShowcase(list, log)
	a.web = web.New(web.Config{
		Sessions: sessions{a}, Hub: &a.hub, Auth: a.auth, Clips: db, Exports: db, Learnt: learnt{a}, Bundles: bundles{db, list}, People: db, Accounts: db, Settings: db, Pictures: db, Known: db, Flags: db, Tokens: db, Quality: reports{a}, Arenas: arenas{a}, Health: db,
		Catalogue: shown.all, Env: shown.one, Examples: show.clips, Presets: db, Rehearser: a.rehearser, Importer: a.importer, Rehearsals: rehearsals(dir, log), RehearsalsFile: filepath.Join(dir, rehearsalsFile), Base: at.base, Origins: at.origins, Proxies: at.proxies, SecureCookies: at.secure(), Rehearses: at.rehearses, Log: log,
		SignInCommand: signInCommand(dir), Before: a.before.findings, Notices: a.notices.board.Of, Workers: workerReports{a}, WorkerStarts: workerStarts(), Program: thisProgram(),
	})
	a.watch(context.WithoutCancel(ctx), at.backups)
	return a, nil
}

// watch checks the database, makes backups and gives notices in the background until close.
func (a *app) watch(ctx context.Context, backups store.Schedule) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { a.db.Watch(ctx, judge(), a.log) })
	running.Go(func() { a.db.KeepBackups(ctx, backups, a.log) })
	running.Go(func() { a.notices.watch(ctx) })
	a.unwatch = func() {
		cancel()
		running.Wait()
	}
}

// judge returns the checks of clips and raw steps.
func judge() store.Judge {
	return store.Judge{Clip: isClip, Steps: func(name idrl.StepsID, content []byte) error {
		_, err := steps.Decode(name, content)
		return err
	}}
}

// isClip returns an error unless the media of c can be played and belongs to it.
func isClip(c idrl.Clip) error {
	shown, err := clip.Decode(c.Media)
	switch {
	case err != nil:
		return err
	case shown.Header.Steps != c.Steps || !slices.Equal(shown.Header.Phi, c.Phi):
		return errors.New("the drawing belongs to another clip")
	}
	return nil
}

// close stops the parts in the order of their dependencies.
func (a *app) close() error {
	a.rehearser.close()
	a.importer.close()
	a.unwatch()
	a.manager.Close()
	return errors.Join(a.pool.Close(), a.away.close(), a.db.Close())
}

// build makes the Config to run a recorded session.
func (a *app) build(r record.Record) (session.Config, error) {
	cfg, err := sessionConfig(a.envs(), r)
	if err != nil {
		return session.Config{}, err
	}
	quick, err := training.Quick(a.envs(), cfg.Record.Spec)
	if err != nil {
		return session.Config{}, err
	}
	travel, err := training.Elsewhere(a.envs(), cfg.Record.Spec)
	if err != nil {
		return session.Config{}, err
	}
	remote := &training.Remote{Jobs: a.pool, Records: a.db, Spec: cfg.Record.Spec, Model: cfg.Model, Quick: quick, Travel: travel, Log: a.log}
	if cfg.Learner != nil {
		cfg.Learner = training.Fitter{FeatureLearner: cfg.Learner, Jobs: a.pool, Spec: cfg.Record.Spec, Travel: travel}
	}
	cfg.Trainer, cfg.Rejected, cfg.Rests = remote, remote.Reject, remote.Rest
	cfg.Journal, cfg.Publisher, cfg.Log = a.db, a.notices, a.log
	id := cfg.Record.Spec.ID
	if cfg.Record.Spec.IsArena() {
		uncut, err := stillCut(context.Background(), a.db, id)
		cfg.Uncut = uncut || err != nil // of what cannot be read the follow-up says so
	}
	cfg.RestAfter, cfg.Watched = a.rest, func() bool { return a.hub.Watchers(id) > 0 }
	cfg.Expired = func(n int) { a.expired.Add(int64(n)) }
	return cfg, nil
}

// sessionConfig makes the part of the Config of a session that depends only on its record.
func sessionConfig(list envs.List, r record.Record) (session.Config, error) {
	var err error
	if r.Spec, err = training.NameFeatures(list, r.Spec); err != nil {
		return session.Config{}, err
	}
	model, err := training.Model(list, r.Spec)
	if err != nil {
		return session.Config{}, err
	}
	method, err := acquisition.Find(r.Spec.Acquisition)
	if err != nil {
		return session.Config{}, err
	}
	env, err := training.Environment(list, r.Spec)
	if err != nil {
		return session.Config{}, err
	}
	cfg := session.Config{
		Record: r, Model: model, Averaged: training.Averaged(r.Spec.Kind), Rival: training.Rival(model, r.Spec.Kind), Acquisition: method, Discount: env.Spec().Discount,
		Exact: training.Exact(env, r.Spec), StepSec: env.Spec().CostSec,
	}
	past, err := training.Recorded(list, r.Spec)
	if err != nil {
		return session.Config{}, err
	}
	if past != nil {
		cfg.Unseen = past.Unseen()
		if episodes, policies := past.Size(); !r.Spec.IsArena() { // which learns no reward
			cfg.Recordings = &view.Recordings{Policies: policies, Episodes: episodes, Named: past.Named(), RewardOf: past.RewardOf()}
		}
		cfg.Title = func(c idrl.Candidate) string {
			if p, ok := training.Acted(past, c); ok {
				return p.Name()
			}
			return ""
		}
	}
	cfg.Steps, cfg.Task, cfg.Begins = training.Lengths(past), training.Tasks(past), training.Beginnings(past)
	cfg.Learner, err = training.Learner(list, r.Spec)
	return cfg, err
}

// sessions is the web's view of the manager.
type sessions struct{ a *app }

// Session implements web.Sessions.
func (s sessions) Session(ctx context.Context, id idrl.SessionID) (web.Session, error) {
	sess, err := s.a.manager.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	return session.Handle{Manager: s.a.manager, ID: id, Made: sess.Spec()}, nil
}

// Create implements web.Sessions.
func (s sessions) Create(ctx context.Context, spec idrl.SessionSpec, owner string, anyway bool) (idrl.SessionID, error) {
	if err := s.placed(ctx, spec, anyway); err != nil {
		return "", err
	}
	spec, err := newSessionOf(ctx, s.a.db, s.a.envs(), spec, owner)
	if err != nil {
		return "", err
	}
	_, err = s.a.manager.Session(ctx, spec.ID) // it starts to train
	return spec.ID, err
}

// Clone implements web.Sessions.
func (s sessions) Clone(ctx context.Context, id idrl.SessionID, title string, seed uint64, actor string, anyway bool) (idrl.SessionID, error) {
	of, err := s.a.db.Spec(ctx, id)
	if err == nil {
		err = s.placed(ctx, of, anyway)
	}
	if err != nil {
		return "", err
	}
	spec, err := cloneSession(ctx, s.a.db, s.a.envs(), of, title, seed, actor)
	return spec.ID, err
}

// placed returns an error of kind Conflict if no place can train a session, unless it is to be made anyway.
func (s sessions) placed(ctx context.Context, spec idrl.SessionSpec, anyway bool) error {
	if anyway || !s.a.idle {
		return nil
	}
	r, err := workerReports(s).Report(ctx)
	if err != nil {
		return err
	}
	return placed(r, s.a.envs(), spec)
}

// List implements web.Sessions.
func (s sessions) List(ctx context.Context) ([]record.Summary, error) {
	list, err := s.a.db.Sessions(ctx)
	known := s.a.envs()
	for i := range list {
		if _, err := known.Find(list[i].Spec.Env); err != nil {
			list[i].Paused = err.Error()
		}
	}
	return list, err
}

// Spec implements web.Sessions. Names of features that an earlier version did not record are added
// if the environment is available.
func (s sessions) Spec(ctx context.Context, id idrl.SessionID) (idrl.SessionSpec, error) {
	spec, err := s.a.db.Spec(ctx, id)
	if err != nil {
		return spec, err
	}
	if named, err := training.NameFeatures(s.a.envs(), spec); err == nil {
		spec = named
	}
	return spec, nil
}

// learnt gives the server the results of sessions.
type learnt struct{ a *app }

// LearntFiles implements web.Learnt.
func (l learnt) LearntFiles(ctx context.Context, id idrl.SessionID) ([]export.File, error) {
	source, err := learntSource(ctx, l.a.db, l.a.envs(), id)
	if err != nil {
		return nil, err
	}
	return outcome.Files(source)
}

// reports gives the server the reports on annotators.
type reports struct{ a *app }

// Quality implements web.Quality.
func (r reports) Quality(ctx context.Context, id idrl.SessionID) (quality.Report, error) {
	rec, err := r.a.db.Labelling(ctx, id)
	if err != nil {
		return quality.Report{}, err
	}
	course, err := r.a.db.Course(ctx, id, training.MostChanges)
	if err != nil {
		return quality.Report{}, err
	}
	return reportOf(r.a.envs(), rec, course)
}
