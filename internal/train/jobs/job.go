package jobs

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// A Job is a task for a worker.
type Job struct {
	record.JobKey
	record.Priority
	Yields  bool          // other jobs of its priority go first: it waits for them, and is begun anew if one would wait for it
	Soon    bool          // no policy in use has learnt from people's answers before it is done: it is done at normal priority
	Like    string        // jobs with the same Like take about as long, urgent ones, those that yield, and others apart
	Work    time.Duration // processor time that it needs, before one like it was done; default half a minute
	Payload []byte        // at most 16 MiB; recorded
	Files   []File        // that the job reads
	Needs   []string      // what a worker elsewhere must have, as Place.Lacks knows it; processes of this machine have everything

	// Make, if it is not nil, returns what a worker gets in place of Payload, at most
	// 16 MiB, when one begins the job. It is not recorded, so that megabytes need not be
	// written while answers wait: the job cannot be handed out again from the record alone.
	Make func(context.Context) ([]byte, error)
}

// Given returns what a worker gets of a job whose recorded payload is payload. An error of
// kind Invalid says that it is too large.
func (j Job) Given(ctx context.Context, payload []byte) (_ []byte, err error) {
	if j.Make == nil {
		return payload, nil
	}
	if payload, err = j.Make(ctx); err != nil {
		return nil, err
	}
	if err := CheckSize("the payload", len(payload)); err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "job %s of session %s: %v", j.Kind, j.Session, err)
	}
	return payload, nil
}

// An Event is a report on a job: an Outlook, Began, Progress, Artefact,
// Checkpoint or, as the last, Done.
type Event interface{ event() }

// Outlook says when the result is expected. It comes when it changes and every
// few seconds.
type Outlook idrl.Outlook

// Began says that a worker begins the job. If one died before, what came after the
// last Began does not count.
type Began struct {
	Attempt int64
	Resumed bool // from a checkpoint
}

// Progress says how far the job is.
type Progress record.JobProgress

// An Artefact is a part of the result.
type Artefact struct {
	Name  string // what it is, such as "generation"
	Hash  [sha256.Size]byte
	Bytes []byte // at most 16 MiB, and 64 MiB in all artefacts of an attempt; not to be changed
}

// NewArtefact returns the artefact with its hash.
func NewArtefact(name string, b []byte) Artefact {
	return Artefact{Name: name, Hash: sha256.Sum256(b), Bytes: b}
}

// Checkpoint is a recorded state of the job, from which it goes on if its worker dies.
type Checkpoint struct{ Bytes []byte }

// Done says that the job is done, and recorded as such.
type Done struct {
	// Rejected is what Reject does; nil for nothing. Dispatchers set it.
	Rejected func(why error)
}

// Reject says that the result is false although it was handed over correctly. The process that
// made it is ended and replaced.
func (d Done) Reject(why error) {
	if d.Rejected != nil {
		d.Rejected(why)
	}
}

func (Outlook) event()    {}
func (Began) event()      {}
func (Progress) event()   {}
func (Artefact) event()   {}
func (Checkpoint) event() {}
func (Done) event()       {}

// Store records jobs. A job that was interrupted, because its worker or the server died, is handed
// out again from the record. Reports of any but the
// last attempt at a job are refused with an error of kind Conflict.
type Store interface {
	// QueueJob records that job waits for a worker. If it is recorded already, with the
	// same payload, and was not done, it keeps its checkpoint, and job.Checkpoint is
	// ignored. Other jobs of the session and kind that wait are given up. It
	// returns an error of kind Conflict if the job is leased.
	QueueJob(ctx context.Context, job record.JobRecord, now time.Time) error

	// BeginJob leases a job that is recorded, and returns it. It returns an error of kind
	// Conflict if the job is leased already, and NotFound if its payload is not recorded.
	BeginJob(ctx context.Context, key record.JobKey, now, lease time.Time) (record.JobRecord, record.JobAttempt, error)

	// BeatJob extends the lease and records progress.
	BeatJob(ctx context.Context, a record.JobAttempt, lease time.Time, p record.JobProgress) error

	// SaveJob records a checkpoint in place of the last.
	SaveJob(ctx context.Context, a record.JobAttempt, checkpoint []byte) error

	// EndJob records the end of an attempt. In the state JobQueued the job can be begun
	// again; in the state JobDone payload and checkpoint are dropped.
	EndJob(ctx context.Context, a record.JobAttempt, now time.Time, state record.JobState, why string) error

	// WaitingJob returns the job of a session that waits and was queued last, or an error
	// of kind NotFound.
	WaitingJob(ctx context.Context, session idrl.SessionID, kind string) (record.JobRecord, error)
}

// A Reporter is told by a Handler how a job goes. Its methods may be called from any
// goroutine until the handler returns. An error says that there is no reader any more,
// or that the report is too large.
type Reporter interface {
	Progress(done, total int, what string)
	Artefact(name string, b []byte) error
	Checkpoint(b []byte) error
}

// A Handler does jobs in a worker.
type Handler interface {
	// Do does a job, from job.Checkpoint if there is one. It returns soon after ctx is
	// done. A panic ends the worker, and another is started.
	Do(ctx context.Context, job record.JobRecord, to Reporter) error

	// Forget says that a session has ended: there is no need to remember anything of it.
	// It may be called while a job is done.
	Forget(session idrl.SessionID)
}

// CheckSize returns an error if a report or payload of n bytes is too large.
func CheckSize(what string, n int) error {
	if n > maxBlob {
		return fmt.Errorf("%s has %d bytes; at most %d MiB can be handed over", what, n, maxBlob>>20)
	}
	return nil
}

// CheckArtefact returns an error if an artefact of n bytes, or all of an attempt with
// sum bytes, are too large.
func CheckArtefact(name string, n, sum int) error {
	if len(name) > maxName {
		return fmt.Errorf("the name of an artefact has %d bytes; at most %d are allowed", len(name), maxName)
	}
	if sum > maxHandover {
		return fmt.Errorf("the artefacts have more than %d MiB", maxHandover>>20)
	}
	return CheckSize("artefact "+name, n)
}
