package jobstest

import (
	"context"
	"sync"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// Store is rows in memory that can refuse reports, and play the death of a server. The zero value is
// empty.
type Store struct {
	jobs.Rows

	mu     sync.Mutex // guards all below
	fenced bool
	last   map[record.JobKey]record.JobAttempt
}

var _ jobs.Store = (*Store)(nil)

// Fence makes the store refuse all reports, as if each job had been started again.
func (s *Store) Fence(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fenced = on
}

// Interrupt is what the next start of a server does after it died: what runs waits.
func (s *Store) Interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.last { // those that have ended are refused
		_ = s.Rows.EndJob(context.Background(), a, time.Time{}, record.JobQueued, "the server died")
	}
}

// BeginJob implements jobs.Store.
func (s *Store) BeginJob(ctx context.Context, key record.JobKey, now, lease time.Time) (record.JobRecord, record.JobAttempt, error) {
	r, a, err := s.Rows.BeginJob(ctx, key, now, lease)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		s.last = map[record.JobKey]record.JobAttempt{}
	}
	if err == nil {
		s.last[key] = a
	}
	return r, a, err
}

// refused returns an error of kind Conflict while the store refuses reports.
func (s *Store) refused() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fenced {
		return idrl.Errorf(idrl.Conflict, "the job was started again by another")
	}
	return nil
}

// BeatJob implements jobs.Store.
func (s *Store) BeatJob(ctx context.Context, a record.JobAttempt, lease time.Time, p record.JobProgress) error {
	if err := s.refused(); err != nil {
		return err
	}
	return s.Rows.BeatJob(ctx, a, lease, p)
}

// SaveJob implements jobs.Store.
func (s *Store) SaveJob(ctx context.Context, a record.JobAttempt, checkpoint []byte) error {
	if err := s.refused(); err != nil {
		return err
	}
	return s.Rows.SaveJob(ctx, a, checkpoint)
}

// EndJob implements jobs.Store.
func (s *Store) EndJob(ctx context.Context, a record.JobAttempt, now time.Time, state record.JobState, why string) error {
	if err := s.refused(); err != nil {
		return err
	}
	return s.Rows.EndJob(ctx, a, now, state, why)
}
