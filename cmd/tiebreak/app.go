package main

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"log/slog"
	"strings"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/acquisition"
	"tiebreak/internal/auth"
	"tiebreak/internal/belief"
	"tiebreak/internal/idrl"
	"tiebreak/internal/jobs"
	"tiebreak/internal/live"
	"tiebreak/internal/rng"
	"tiebreak/internal/session"
	"tiebreak/store"
	"tiebreak/web"
)

// An app is a server's parts, joined.
type app struct {
	envs    envs.List
	db      *store.DB
	auth    *auth.Auth
	hub     live.Hub
	pool    *jobs.Pool
	manager *session.Manager
	web     *web.Server
	log     *slog.Logger
}

// openApp opens the data folder and joins the parts. The caller must close it.
// list is the catalogue, and worker the command line of a worker process with the
// same one; empty for this program's own.
func openApp(ctx context.Context, dir string, list envs.List, origins []string, log *slog.Logger, worker ...string) (*app, error) {
	db, err := store.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	a := &app{envs: list, db: db, auth: auth.New(auth.Config{Store: db}), log: log}
	if a.pool, err = jobs.NewPool(jobs.Config{Store: db, Command: worker, Log: log}); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	a.manager = session.NewManager(db, a.build, log)
	a.web = web.New(web.Config{
		Sessions: sessions{a}, Hub: &a.hub, Auth: a.auth, Clips: db, Exports: db, People: db,
		Catalogue: catalogue(list), Origins: origins, SecureCookies: secure(origins), Log: log,
	})
	return a, nil
}

// close stops what runs, in the order in which one needs the other.
func (a *app) close() error {
	a.manager.Close()
	return errors.Join(a.pool.Close(), a.db.Close())
}

// secure reports whether the site is reached over HTTPS only.
func secure(origins []string) bool {
	for _, o := range origins {
		if !strings.HasPrefix(o, "https://") {
			return false
		}
	}
	return len(origins) > 0
}

// catalogue returns the environments as the form shows them.
func catalogue(entries envs.List) (out []web.EnvChoice) {
	for _, e := range entries {
		c := web.EnvChoice{ID: e.ID, Title: e.Title, Description: e.Description}
		if e.Unavailable != nil {
			c.Unavailable = e.Unavailable.Error()
		} else {
			c.StillLabel = e.New(rng.New(0, "layout", 0)).Spec().StillLabel
		}
		out = append(out, c)
	}
	return out
}

// build makes the Config of a recorded session.
func (a *app) build(r idrl.Record) (session.Config, error) {
	env, err := newEnvironment(a.envs, r.Spec)
	if err != nil {
		return session.Config{}, err
	}
	if r.Spec, err = nameFeatures(a.envs, r.Spec); err != nil {
		return session.Config{}, err
	}
	model, err := belief.ForSpec(r.Spec, env)
	if err != nil {
		return session.Config{}, err
	}
	method, err := acquisition.Find(r.Spec.Acquisition)
	if err != nil {
		return session.Config{}, err
	}
	return session.Config{
		Record: r, Model: model, Acquisition: method,
		Trainer: remoteTrainer{a.pool, r.Spec}, Codec: codec{}, Journal: a.db, Publisher: &a.hub, Log: a.log,
		Refit: func(ctx context.Context, qs []idrl.Query, as []idrl.Answer) (idrl.Posterior, error) {
			g, _, err := model.Refit(ctx, qs, as, belief.EPOptions{})
			return g, err
		},
	}, nil
}

// remoteTrainer trains in a worker process.
type remoteTrainer struct {
	pool *jobs.Pool
	spec idrl.SessionSpec
}

// Train implements idrl.Trainer.
func (t remoteTrainer) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	payload, err := encodeRequest(t.spec, job)
	if err != nil {
		return idrl.Generation{}, err
	}
	key := jobs.Key{Session: t.spec.ID, Kind: "train", BasedOn: job.BasedOn}
	b, err := t.pool.Do(ctx, key, payload, job.Progress)
	if err != nil {
		return idrl.Generation{}, err
	}
	return decodeGeneration(b)
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
func (s sessions) Create(ctx context.Context, spec idrl.SessionSpec) (idrl.SessionID, error) {
	spec, err := newSession(ctx, s.a.db, s.a.envs, spec)
	if err != nil {
		return "", err
	}
	_, err = s.a.manager.Session(ctx, spec.ID) // it starts to train
	return spec.ID, err
}

// List implements web.Sessions.
func (s sessions) List(ctx context.Context) ([]idrl.Summary, error) { return s.a.db.Sessions(ctx) }

// newSession checks spec, names it and records it.
func newSession(ctx context.Context, db *store.DB, list envs.List, spec idrl.SessionSpec) (idrl.SessionSpec, error) {
	spec = spec.WithDefaults()
	if err := checkSpec(list, spec); err != nil {
		return spec, err
	}
	entry, err := list.Find(spec.Env)
	if err != nil {
		return spec, err
	}
	if spec, err = nameFeatures(list, spec); err != nil {
		return spec, err
	}
	spec.Env = entry.Ref() // so that a model that changes is not taken for what it was
	spec.ID = newSessionID()
	spec.CreatedAt = time.Now().UTC().Truncate(time.Second)
	return spec, db.CreateSession(ctx, spec)
}

// newSessionID returns a name that nobody can guess and anybody can read out.
func newSessionID() idrl.SessionID {
	var b [10]byte
	_, _ = rand.Read(b[:]) // never fails; see crypto/rand
	return idrl.SessionID(strings.ToLower(base32.StdEncoding.EncodeToString(b[:])))
}
