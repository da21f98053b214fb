package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Builder makes the Config of a recorded session. It returns an error of kind
// Invalid if the spec names something that does not exist.
type Builder func(r record.Record) (Config, error)

// Manager runs the sessions of a server: each on its own goroutine, started
// at the first request. A session that rests is removed from memory, and started again at the next request.
type Manager struct {
	journal record.Journal
	build   Builder
	log     *slog.Logger

	ctx    context.Context // of the goroutines; ends at Close
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu    sync.Mutex // guards all below
	runs  map[idrl.SessionID]*run
	rests map[idrl.SessionID]rest // of sessions that have come to rest since the start
}

// rest holds the facts about a session that rests which the journal does not have.
type rest struct {
	took     time.Duration // by its last training; 0 before there is one
	followed uint64        // digest of the settings that it has followed
}

// run is one session that is loading or running. loaded is closed when s and
// err are set; ended, when the session has stopped.
type run struct {
	id            idrl.SessionID
	loaded, ended chan struct{}
	s             *Session
	err           error
}

// NewManager returns a manager without sessions. The caller must Close it.
func NewManager(journal record.Journal, build Builder, log *slog.Logger) *Manager {
	ctx, cancel := context.WithCancel(context.Background())
	return &Manager{journal: journal, build: build, log: log, ctx: ctx, cancel: cancel, runs: map[idrl.SessionID]*run{}, rests: map[idrl.SessionID]rest{}}
}

// Session returns the running session with that id, which it starts if need be.
// It returns an error of kind NotFound for an unknown id.
func (m *Manager) Session(ctx context.Context, id idrl.SessionID) (*Session, error) {
	r, err := m.loaded(ctx, id)
	if err != nil {
		return nil, err
	}
	return r.s, nil
}

// loaded returns the live run of a session when that is loaded. Errors as for Session.
func (m *Manager) loaded(ctx context.Context, id idrl.SessionID) (*run, error) {
	r := m.run(id)
	select {
	case <-r.loaded:
		return r, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// run returns the live run of id, starting one if there is none.
func (m *Manager) run(id idrl.SessionID) *run {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.runs[id]; ok {
		select {
		case <-r.ended: // it failed; try anew
		default:
			return r
		}
	}
	r := &run{id: id, loaded: make(chan struct{}), ended: make(chan struct{})}
	m.runs[id] = r
	m.wg.Go(func() {
		defer close(r.ended)
		m.serve(r)
	})
	return r
}

func (m *Manager) serve(r *run) {
	id := r.id
	defer func() { // a fault in one session must not end the others; what it recorded is safe
		if fault := recover(); fault != nil {
			m.log.Error("session panicked", "session", id, "fault", fault, "stack", string(debug.Stack()))
		}
	}()
	if m.open(r); r.err != nil {
		m.forget(r)
		return
	}
	switch err := r.s.Run(m.ctx); {
	case errors.Is(err, errRests):
		m.log.Debug("session rests", "session", id)
		m.forget(r)
	case errors.Is(err, errSuperseded):
		m.log.Info("a person's data were withdrawn; the session starts again without them", "session", id)
	case err != nil && !errors.Is(err, context.Canceled):
		m.log.Error("session stopped", "session", id, "err", err)
	}
}

// open loads the session of r, or sets why that is not possible.
func (m *Manager) open(r *run) {
	defer close(r.loaded)
	r.err = idrl.Errorf(idrl.Internal, "session %s: a fault while it was loaded", r.id) // unless load returns
	r.s, r.err = m.load(r.id)
}

// forget removes a run that has ended, and so all that the session has in memory.
func (m *Manager) forget(r *run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runs[r.id] != r {
		return
	}
	delete(m.runs, r.id)
	if r.s != nil {
		m.rests[r.id] = rest{r.s.took, r.s.followed}
	}
}

// Running returns how many sessions are in memory.
func (m *Manager) Running() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.runs)
}

func (m *Manager) load(id idrl.SessionID) (*Session, error) {
	rec, err := m.journal.Load(m.ctx, id)
	if err != nil {
		return nil, err
	}
	cfg, err := m.build(rec)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	s, err := New(cfg)
	if err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		s.took = m.rests[id].took
		delete(m.rests, id)
	}
	return s, err
}

// Follow makes every session that runs apply its present settings. If one fails the others still do. A session that
// rests is loaded if its settings have changed since it came to rest.
func (m *Manager) Follow(ctx context.Context) error {
	var errs []error
	var all []*run
	for id, was := range m.resting() {
		set, err := m.journal.Settings(ctx, id)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("session %s: %w", id, err))
		case digest(set) != was.followed:
			all = append(all, m.run(id))
		}
	}
	running, loading := m.running()
	for _, r := range slices.Concat(running, loading) { // what is being loaded may have read the settings of before
		if !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	failed := make([]error, len(all))
	var wg sync.WaitGroup
	for i, r := range all { // at the same time: a session may wait for a training
		wg.Go(func() {
			if err := r.follow(ctx); err != nil {
				failed[i] = fmt.Errorf("session %s: %w", r.id, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, failed...)...)
}

// follow is Session.Follow once the session is loaded. If it could not be, that is an error only where it may pass. If a withdrawal of
// data or rest ends the run it waits for that: the next run reads the settings of then.
func (r *run) follow(ctx context.Context) error {
	select {
	case <-r.loaded:
	case <-ctx.Done():
		return ctx.Err()
	}
	if r.err != nil {
		if idrl.KindOf(r.err) == idrl.Unavailable {
			return r.err
		}
		return nil
	}
	err := r.s.Follow(ctx)
	if !errors.Is(err, errSuperseded) && !errors.Is(err, errRests) {
		return err
	}
	select {
	case <-r.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// resting returns the sessions that rest.
func (m *Manager) resting() map[idrl.SessionID]rest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.rests)
}

// Loaded returns the session with that id if it is in memory and runs, else nil.
func (m *Manager) Loaded(id idrl.SessionID) *Session {
	running, _ := m.running()
	for _, r := range running {
		if r.s.spec.ID == id {
			return r.s
		}
	}
	return nil
}

// running returns the runs that are loaded and have not ended, and those that are being loaded.
func (m *Manager) running() (out, loading []*run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.runs {
		select {
		case <-r.ended:
			continue
		default:
		}
		select {
		case <-r.loaded:
			if r.err == nil {
				out = append(out, r)
			}
		default:
			loading = append(loading, r)
		}
	}
	return out, loading
}

// Close stops every session and waits until all have stopped. Session must not
// be called after it.
func (m *Manager) Close() {
	m.cancel()
	m.wg.Wait()
}
