package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/web"
)

// keptImports is how many imports a server remembers, but for those that can go on.
const keptImports = 20

// planTime is how long it may take to tell what an import takes.
const planTime = 2 * time.Minute

// An importDesk imports data sets for the server, one at a time, each in a process of its own.
type importDesk struct {
	*uploadDesk
	folders recordings.Folders
	into    string // folder of sets of rollouts
	log     *slog.Logger

	mu     sync.Mutex
	list   []web.ImportState  // guarded by mu: those that this server began, the newest first
	stop   context.CancelFunc // guarded by mu: of the one that is under way; nil for none
	closed bool               // guarded by mu
	works  sync.WaitGroup     // imports
}

var _ web.Importer = (*importDesk)(nil)

// An importNote is kept with an import that was interrupted.
type importNote struct {
	Ask   web.ImportAsk `json:"ask"`
	Owner string        `json:"owner"`
	Began time.Time     `json:"began"`
}

// Allows implements web.Importer.
func (m *importDesk) Allows() bool { return m.folders.Any() }

// newImportDesk returns the desk of a server, by which researchers import what is below folders, and what they upload.
func newImportDesk(data string, folders recordings.Folders, room func() uint64, log *slog.Logger) (m *importDesk, err error) {
	m = &importDesk{into: filepath.Join(data, recordings.FolderName), log: log}
	if m.uploadDesk, err = newUploadDesk(data, room, log); err == nil {
		m.folders, err = folders.With(uploadsFolder, m.uploadDesk.folder)
	}
	return m, err
}

// Recordings implements web.Importer.
func (m *importDesk) Recordings(ctx context.Context, owner string) ([]recordings.Found, bool, error) {
	list, more, err := m.folders.Find(ctx)
	return slices.DeleteFunc(list, func(f recordings.Found) bool { return !m.sees(owner, f.Name) }), more, err
}

// config returns the settings of an import.
func (m *importDesk) config(ask web.ImportAsk) (c recordings.LeRobotConfig, err error) {
	if c, err = ask.Config(); err != nil {
		return c, err
	}
	if ask.Set == "" {
		return c, idrl.Errorf(idrl.Invalid, "choose a data set")
	}
	for _, name := range []string{ask.Set, c.Options.CSV} {
		if !m.sees(ask.Sees, name) {
			return c, idrl.Errorf(idrl.Invalid, "rollouts-folder: there is no upload %.200q", name)
		}
	}
	c.Into = m.into
	if c.From, err = m.folders.At(ask.Set); err != nil || c.Options.CSV == "" {
		return c, err
	}
	c.Options.Beside, c.Options.CSV, err = m.folders.File(c.Options.CSV)
	return c, err
}

// PlanImport implements web.Importer.
func (m *importDesk) PlanImport(ctx context.Context, ask web.ImportAsk) (plan []string, err error) {
	c, err := m.config(ask)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, planTime)
	defer cancel()
	c.PlanOnly = true
	err = importApart(ctx, importJob{Config: c}, func(l importLine) { plan = append(plan, l.Plan...) })
	if errors.Is(err, context.DeadlineExceeded) {
		err = idrl.Errorf(idrl.Invalid, "the files of the data set could not be read within %v: import it by the command", planTime)
	}
	return plan, err
}

// StartImport implements web.Importer.
func (m *importDesk) StartImport(ctx context.Context, ask web.ImportAsk, owner string, turn web.ImportTurn) error {
	c, err := m.config(ask)
	if err != nil {
		return err
	}
	if err := recordings.Free(m.into, c.Name); err != nil {
		return err
	}
	state := web.ImportState{Ask: ask, Owner: owner, Began: time.Now(), Says: "It waits for its turn."}
	if c.Note, err = json.Marshal(importNote{Ask: ask, Owner: owner, Began: state.Began}); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return idrl.Errorf(idrl.Unavailable, "the server is stopping")
	case m.stop != nil:
		return idrl.Errorf(idrl.Conflict, "another import is under way on this server: wait until it has ended")
	}
	ctx, m.stop = context.WithCancel(context.WithoutCancel(ctx))
	m.list = slices.DeleteFunc(m.list, func(s web.ImportState) bool { return s.Ask.Name() == ask.Name() })
	m.list = slices.Insert(m.list, 0, state)
	m.list = m.list[:min(len(m.list), keptImports)]
	m.works.Go(func() { m.run(ctx, c, turn) })
	return nil
}

// run does the first import of the list.
func (m *importDesk) run(ctx context.Context, c recordings.LeRobotConfig, turn web.ImportTurn) {
	pause, leave, err := turn(ctx)
	if err == nil {
		m.change(func(s *web.ImportState) { s.Says = "It begins." })
		err = importApart(ctx, importJob{Config: c}, func(l importLine) {
			pause()
			m.change(func(s *web.ImportState) {
				if s.Plan = append(s.Plan, l.Plan...); l.What != "" {
					s.Says = l.sentence()
				}
			})
		})
		leave()
	}
	stopped := ctx.Err() != nil
	if !stopped && idrl.KindOf(err) == idrl.Internal && err != nil {
		m.log.Error("an import failed", "name", c.Name, "err", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stop()
	m.stop = nil
	s := &m.list[0]
	s.Says, s.Ended = "", time.Now()
	s.Wrong, s.Again = whyNoImport(err, stopped)
}

// whyNoImport says for people why an import has no result, and whether it can go on.
func whyNoImport(err error, stopped bool) (wrong string, again bool) {
	switch {
	case err == nil:
		return "", false
	case stopped:
		return "It was stopped.", true
	case idrl.KindOf(err) == idrl.Internal:
		return "It failed; the log of the server says why.", true
	}
	return strings.TrimSuffix(err.Error(), ".") + ". Nothing was imported.", false
}

// change changes the first import of the list.
func (m *importDesk) change(do func(*web.ImportState)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	do(&m.list[0])
}

// Imports implements web.Importer. An import that this server did not begin was interrupted when another one ended.
func (m *importDesk) Imports(owner string) (out []web.ImportState, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, err := m.imports()
	for _, s := range all {
		if owner == "" || s.Owner == owner {
			s.Plan = slices.Clone(s.Plan)
			out = append(out, s)
		}
	}
	return out, err
}

// imports returns those of all accounts. m.mu must be held.
func (m *importDesk) imports() (all []web.ImportState, err error) {
	notes, err := recordings.Interrupted(m.into)
	if err != nil {
		return nil, err
	}
	all = slices.Clone(m.list)
	for _, b := range notes {
		var n importNote
		if json.Unmarshal(b, &n) != nil || slices.ContainsFunc(all, func(s web.ImportState) bool { return s.Ask.Name() == n.Ask.Name() }) {
			continue
		}
		all = append(all, web.ImportState{Ask: n.Ask, Owner: n.Owner, Began: n.Began, Wrong: "It was interrupted: the server ended before it did.", Again: true})
	}
	return all, nil
}

// StopImport implements web.Importer.
func (m *importDesk) StopImport(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stop != nil && m.list[0].Ask.Name() == name {
		m.stop()
	}
	return nil // another one is not under way
}

// ForgetImport implements web.Importer.
func (m *importDesk) ForgetImport(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stop != nil && m.list[0].Ask.Name() == name {
		return idrl.Errorf(idrl.Conflict, "this import is under way: stop it first")
	}
	m.list = slices.DeleteFunc(m.list, func(s web.ImportState) bool { return s.Ask.Name() == name })
	return recordings.Forget(m.into, name)
}

// close stops what is under way, which can go on later, and waits for it.
func (m *importDesk) close() {
	m.mu.Lock()
	m.closed = true
	if m.stop != nil {
		m.stop()
	}
	m.mu.Unlock()
	m.works.Wait()
	m.uploadDesk.close()
}
