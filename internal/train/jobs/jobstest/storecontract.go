package jobstest

import (
	"bytes"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// RunStore checks what every store of jobs promises. open returns one that is empty but
// for the sessions a and b.
func RunStore(t *testing.T, open func(t *testing.T) jobs.Store) {
	for name, run := range map[string]func(t *testing.T, s jobs.Store){
		"from queue to end":                             queueToEnd,
		"a lease that runs out":                         leaseRunsOut,
		"a later job takes the place of one that waits": laterJob,
		"bytes are kept as they are":                    keptBytes,
	} {
		t.Run(name, func(t *testing.T) { run(t, open(t)) })
	}
}

// Times and the job of the checks.
var (
	key   = record.JobKey{Session: "a", Kind: "train", BasedOn: 3}
	t0    = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	lease = t0.Add(time.Minute)
)

func queued(k record.JobKey, payload string) record.JobRecord {
	return record.JobRecord{JobKey: k, Priority: record.Urgent, Payload: []byte(payload)}
}

// kind checks the kind of an error.
func kind(t *testing.T, err error, want idrl.Kind) {
	t.Helper()
	if err == nil || idrl.KindOf(err) != want {
		t.Errorf("error = %v, want kind %d", err, want)
	}
}

func queueToEnd(t *testing.T, s jobs.Store) {
	ctx := t.Context()
	_, _, err := s.BeginJob(ctx, key, t0, lease)
	kind(t, err, idrl.NotFound)
	_, err = s.WaitingJob(ctx, "a", "train")
	kind(t, err, idrl.NotFound)
	must.Do(t, s.QueueJob(ctx, queued(key, "what"), t0))
	rec, err := s.WaitingJob(ctx, "a", "train")
	if err != nil || rec.JobKey != key || string(rec.Payload) != "what" || rec.Priority != record.Urgent || rec.Checkpoint != nil {
		t.Errorf("waiting: %+v, %v", rec, err)
	}
	rec, one, err := s.BeginJob(ctx, key, t0, lease)
	if err != nil || string(rec.Payload) != "what" || one != (record.JobAttempt{JobKey: key, Attempt: 1}) {
		t.Errorf("began: %+v, %+v, %v", rec, one, err)
	}
	_, err = s.WaitingJob(ctx, "a", "train")
	kind(t, err, idrl.NotFound)
	_, _, err = s.BeginJob(ctx, key, t0, lease)
	kind(t, err, idrl.Conflict)
	kind(t, s.QueueJob(ctx, queued(key, "what"), t0), idrl.Conflict)
	must.Do(t, s.BeatJob(ctx, one, lease, record.JobProgress{Done: 1, Total: 6, What: "solving"}))
	must.Do(t, s.EndJob(ctx, one, t0, record.JobDone, ""))
	kind(t, s.BeatJob(ctx, one, lease, record.JobProgress{}), idrl.Conflict)
	kind(t, s.SaveJob(ctx, one, nil), idrl.Conflict)
	kind(t, s.EndJob(ctx, one, t0, record.JobDone, ""), idrl.Conflict)
	_, _, err = s.BeginJob(ctx, key, t0, lease)
	kind(t, err, idrl.NotFound) // its payload is gone
}

func leaseRunsOut(t *testing.T, s jobs.Store) {
	ctx := t.Context()
	must.Do(t, s.QueueJob(ctx, queued(key, "what"), t0))
	_, one, err := s.BeginJob(ctx, key, t0, lease)
	must.Do(t, err)
	must.Do(t, s.SaveJob(ctx, one, []byte("half")))
	rec, two, err := s.BeginJob(ctx, key, lease, lease.Add(time.Minute))
	if err != nil || two.Attempt != 2 || string(rec.Checkpoint) != "half" {
		t.Errorf("began again: %+v, %+v, %v", rec, two, err)
	}
	kind(t, s.BeatJob(ctx, one, lease, record.JobProgress{}), idrl.Conflict)
	kind(t, s.SaveJob(ctx, one, []byte("less")), idrl.Conflict)
	kind(t, s.EndJob(ctx, one, t0, record.JobDone, ""), idrl.Conflict)
	must.Do(t, s.EndJob(ctx, two, t0, record.JobQueued, "the worker died"))
	must.Do(t, s.QueueJob(ctx, queued(key, "what"), t0))
	if rec, err := s.WaitingJob(ctx, "a", "train"); err != nil || string(rec.Checkpoint) != "half" {
		t.Errorf("the same payload again: %+v, %v", rec, err)
	}
	must.Do(t, s.QueueJob(ctx, queued(key, "other"), t0))
	if rec, three, err := s.BeginJob(ctx, key, t0, lease); err != nil || rec.Checkpoint != nil || string(rec.Payload) != "other" || three.Attempt != 3 {
		t.Errorf("another payload: %+v, %+v, %v", rec, three, err)
	}
}

func laterJob(t *testing.T, s jobs.Store) {
	ctx := t.Context()
	later, other := key, key
	later.BasedOn, other.Session = 6, "b"
	for _, k := range []record.JobKey{key, other, later} {
		must.Do(t, s.QueueJob(ctx, queued(k, "what"), t0))
	}
	if rec, err := s.WaitingJob(ctx, "a", "train"); err != nil || rec.JobKey != later {
		t.Errorf("waiting: %+v, %v", rec, err)
	}
	if rec, err := s.WaitingJob(ctx, "b", "train"); err != nil || rec.JobKey != other {
		t.Errorf("waiting in the other session: %+v, %v", rec, err)
	}
	_, _, err := s.BeginJob(ctx, key, t0, lease)
	kind(t, err, idrl.NotFound)
}

func keptBytes(t *testing.T, s jobs.Store) {
	ctx := t.Context()
	rec := queued(key, "")
	rec.Payload = bytes.Repeat([]byte{0, 255, '\n'}, 100_000)
	must.Do(t, s.QueueJob(ctx, rec, t0))
	if got, _, err := s.BeginJob(ctx, key, t0, lease); err != nil || !bytes.Equal(got.Payload, rec.Payload) {
		t.Errorf("%d bytes, %v", len(got.Payload), err)
	}
}
