package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base32"
	"strings"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/base/record"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/training"
	"tiebreak/store"
)

// newSession checks spec, names it and records it.
func newSession(ctx context.Context, db *store.DB, list envs.List, spec idrl.SessionSpec) (idrl.SessionSpec, error) {
	return newSessionOf(ctx, db, list, spec, "")
}

// newSessionOf is newSession of an account, which owns the session; empty for none.
func newSessionOf(ctx context.Context, db *store.DB, list envs.List, spec idrl.SessionSpec, owner string) (idrl.SessionSpec, error) {
	spec, err := readySession(list, spec)
	if err != nil {
		return spec, err
	}
	return spec, db.CreateSessionOf(ctx, spec, owner)
}

// cloneSession records a session with the settings of another one. An empty title is derived from
// that of the other.
func cloneSession(ctx context.Context, db *store.DB, list envs.List, of idrl.SessionSpec, title string, seed uint64, actor string) (idrl.SessionSpec, error) {
	if of.IsArena() {
		return of, idrl.Errorf(idrl.Invalid, "an arena cannot be cloned; make another one of the same sessions ('tiebreak arena new')")
	}
	spec, err := readySession(list, of.Clone(cmp.Or(title, record.CloneTitle(of.Title)), seed))
	if err != nil {
		return spec, err
	}
	return spec, db.CloneSession(ctx, spec, of.ID, actor)
}

// readySession checks spec, completes it and names it.
func readySession(list envs.List, spec idrl.SessionSpec) (idrl.SessionSpec, error) {
	if err := training.CheckShown(list, spec); err != nil {
		return spec, err
	}
	return namedSession(list, spec)
}

// namedSession is readySession for a session without questions, such as one of imported labels
// without pictures.
func namedSession(list envs.List, spec idrl.SessionSpec) (idrl.SessionSpec, error) {
	spec = settings.Complete(spec)
	spec, err := training.Complete(list, spec)
	if err != nil {
		return spec, err
	}
	if err := checkSpec(list, spec); err != nil {
		return spec, err
	}
	entry, err := list.Find(spec.Env)
	if err != nil {
		return spec, err
	}
	spec.Env = entry.Ref() // so that a model that changes is recognised as another one
	spec.ID = newSessionID()
	spec.CreatedAt = time.Now().UTC().Truncate(time.Second)
	return spec, nil
}

// checkSpec returns an error of kind Invalid that says what to change in a complete spec.
func checkSpec(list envs.List, spec idrl.SessionSpec) error {
	if err := settings.Check(spec); err != nil {
		return err
	}
	if recordings.OfUpload(spec.Env) && !spec.IsArena() {
		return idrl.Errorf(idrl.Invalid, "%q is uploaded trajectories that were kept for arenas: there are no other sessions about them", spec.Env)
	}
	return training.CheckSpec(list, spec)
}

// newSessionID returns a name that is hard to guess and easy to read aloud.
func newSessionID() idrl.SessionID {
	var b [10]byte
	_, _ = rand.Read(b[:]) // never fails; see crypto/rand
	return idrl.SessionID(strings.ToLower(base32.StdEncoding.EncodeToString(b[:])))
}
