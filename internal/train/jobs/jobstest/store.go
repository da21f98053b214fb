package jobstest

import (
	"bytes"
	"context"
	"sync"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// Store records jobs in memory. The zero value is empty.
type Store struct {
	mu     sync.Mutex // guards all below
	rows   map[record.JobKey]*Row
	queued int
	fenced bool
}

var _ jobs.Store = (*Store)(nil)

// A Row is a recorded job and its history.
type Row struct {
	record.JobRecord
	State    record.JobState
	Attempt  int64
	Progress record.JobProgress
	Ends     []string // why each attempt ended; empty if it was done
	Beats    int

	lease time.Time
	place int // in the order in which jobs were queued
}

// Row returns a copy of a row, the zero Row if there is none.
func (s *Store) Row(key record.JobKey) Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.rows[key]; r != nil {
		return *r
	}
	return Row{}
}

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
	for _, r := range s.rows {
		if r.State == record.JobRunning {
			r.State = record.JobQueued
		}
	}
}

// QueueJob implements jobs.Store.
func (s *Store) QueueJob(_ context.Context, job record.JobRecord, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = map[record.JobKey]*Row{}
	}
	r := s.rows[job.JobKey]
	if r == nil {
		r = &Row{}
		s.rows[job.JobKey] = r
	}
	if r.State == record.JobRunning && r.lease.After(now) {
		return idrl.Errorf(idrl.Conflict, "job %s %d of session %s is being worked on", job.Kind, job.BasedOn, job.Session)
	}
	job.Checkpoint, job.Payload = nil, append([]byte{}, job.Payload...)
	if r.Payload != nil && bytes.Equal(r.Payload, job.Payload) {
		job.Checkpoint = r.Checkpoint
	}
	s.queued++
	r.JobRecord, r.State, r.place = job, record.JobQueued, s.queued
	for _, o := range s.rows {
		if o != r && o.Session == job.Session && o.Kind == job.Kind && o.State == record.JobQueued {
			o.State, o.Payload, o.Checkpoint = record.JobFailed, nil, nil
		}
	}
	return nil
}

// BeginJob implements jobs.Store.
func (s *Store) BeginJob(_ context.Context, key record.JobKey, now, lease time.Time) (record.JobRecord, record.JobAttempt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rows[key]
	switch {
	case r == nil || r.Payload == nil:
		return record.JobRecord{}, record.JobAttempt{}, idrl.Errorf(idrl.NotFound, "job %s %d of session %s is not recorded", key.Kind, key.BasedOn, key.Session)
	case r.State == record.JobRunning && r.lease.After(now):
		return record.JobRecord{}, record.JobAttempt{}, idrl.Errorf(idrl.Conflict, "job %s %d of session %s is being worked on", key.Kind, key.BasedOn, key.Session)
	}
	r.Attempt++
	r.State, r.lease, r.Progress = record.JobRunning, lease, record.JobProgress{}
	return r.JobRecord, record.JobAttempt{JobKey: key, Attempt: r.Attempt}, nil
}

// row returns the row of an attempt that may report. The caller holds mu.
func (s *Store) row(a record.JobAttempt) (*Row, error) {
	r := s.rows[a.JobKey]
	if s.fenced || r == nil || r.State != record.JobRunning || r.Attempt != a.Attempt {
		return nil, idrl.Errorf(idrl.Conflict, "the job was started again by another or has ended")
	}
	return r, nil
}

// BeatJob implements jobs.Store.
func (s *Store) BeatJob(_ context.Context, a record.JobAttempt, lease time.Time, p record.JobProgress) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.row(a)
	if err == nil {
		r.lease, r.Progress = lease, p
		r.Beats++
	}
	return err
}

// SaveJob implements jobs.Store.
func (s *Store) SaveJob(_ context.Context, a record.JobAttempt, checkpoint []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.row(a)
	if err == nil {
		r.Checkpoint = bytes.Clone(checkpoint)
	}
	return err
}

// EndJob implements jobs.Store.
func (s *Store) EndJob(_ context.Context, a record.JobAttempt, _ time.Time, state record.JobState, why string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.row(a)
	if err != nil {
		return err
	}
	r.State, r.Ends = state, append(r.Ends, why)
	if state == record.JobDone {
		r.Payload, r.Checkpoint = nil, nil
	}
	return nil
}

// WaitingJob implements jobs.Store.
func (s *Store) WaitingJob(_ context.Context, session idrl.SessionID, kind string) (record.JobRecord, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var last *Row
	for _, r := range s.rows {
		if r.Session == session && r.Kind == kind && r.State == record.JobQueued && (last == nil || r.place > last.place) {
			last = r
		}
	}
	if last == nil {
		return record.JobRecord{}, idrl.Errorf(idrl.NotFound, "no job of session %s waits", session)
	}
	return last.JobRecord, nil
}
