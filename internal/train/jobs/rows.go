package jobs

import (
	"bytes"
	"context"
	"sync"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Rows records jobs in memory, for programs without a database: jobs that end with the program. The
// zero value is empty. Its methods may be called from any goroutine. It keeps a row of each job, and
// the payloads of those that are not done.
type Rows struct {
	mu     sync.Mutex // guards all below
	rows   map[idrl.SessionID][]*Row
	queued int
}

var _ Store = (*Rows)(nil)

// A Row is a recorded job and its history.
type Row struct {
	record.JobRecord
	State    record.JobState
	Attempt  int64
	Progress record.JobProgress
	Ends     []string // why each attempt ended; empty if it was done

	lease time.Time
	place int // in the order in which jobs were queued
}

// Row returns a copy of a row, the zero Row if there is none.
func (s *Rows) Row(key record.JobKey) Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.find(key); r != nil {
		return *r
	}
	return Row{}
}

// find returns the row of a job, nil if there is none. The caller holds mu.
func (s *Rows) find(key record.JobKey) *Row {
	for _, r := range s.rows[key.Session] {
		if r.JobKey == key {
			return r
		}
	}
	return nil
}

// QueueJob implements Store.
func (s *Rows) QueueJob(_ context.Context, job record.JobRecord, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = map[idrl.SessionID][]*Row{}
	}
	r := s.find(job.JobKey)
	if r == nil {
		r = &Row{}
		s.rows[job.Session] = append(s.rows[job.Session], r)
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
	for _, o := range s.rows[job.Session] {
		if o != r && o.Kind == job.Kind && o.State == record.JobQueued {
			o.State, o.Payload, o.Checkpoint = record.JobFailed, nil, nil
		}
	}
	return nil
}

// BeginJob implements Store.
func (s *Rows) BeginJob(_ context.Context, key record.JobKey, now, lease time.Time) (record.JobRecord, record.JobAttempt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.find(key)
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
func (s *Rows) row(a record.JobAttempt) (*Row, error) {
	r := s.find(a.JobKey)
	if r == nil || r.State != record.JobRunning || r.Attempt != a.Attempt {
		return nil, idrl.Errorf(idrl.Conflict, "the job was started again by another or has ended")
	}
	return r, nil
}

// BeatJob implements Store.
func (s *Rows) BeatJob(_ context.Context, a record.JobAttempt, lease time.Time, p record.JobProgress) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.row(a)
	if err == nil {
		r.lease, r.Progress = lease, p
	}
	return err
}

// SaveJob implements Store.
func (s *Rows) SaveJob(_ context.Context, a record.JobAttempt, checkpoint []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.row(a)
	if err == nil {
		r.Checkpoint = bytes.Clone(checkpoint)
	}
	return err
}

// EndJob implements Store.
func (s *Rows) EndJob(_ context.Context, a record.JobAttempt, _ time.Time, state record.JobState, why string) error {
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

// WaitingJob implements Store.
func (s *Rows) WaitingJob(_ context.Context, session idrl.SessionID, kind string) (record.JobRecord, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var last *Row
	for _, r := range s.rows[session] {
		if r.Kind == kind && r.State == record.JobQueued && (last == nil || r.place > last.place) {
			last = r
		}
	}
	if last == nil {
		return record.JobRecord{}, idrl.Errorf(idrl.NotFound, "no job of session %s waits", session)
	}
	return last.JobRecord, nil
}
