package store

import (
	"context"
	"database/sql"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// QueueJob records that job waits for a worker. If it is recorded already, with the
// same payload, and was not done, it keeps its checkpoint, and job.Checkpoint is
// ignored. Other jobs of the session and kind that wait are given up. It returns an
// error of kind Conflict if the job is leased, and of kind NotFound if there is no such
// session.
func (db queue) QueueJob(ctx context.Context, job record.JobRecord, now time.Time) error {
	payload := append([]byte{}, job.Payload...) // nil would be NULL
	return db.doPatiently(ctx, func(t *tx) error {
		const giveUp = `
			UPDATE job SET state = 'failed', error = 'a later job took its place', finished_at = ?, payload = NULL, checkpoint = NULL
			WHERE session_id = ? AND kind = ? AND based_on <> ? AND state = 'queued'`
		if _, err := t.exec(giveUp, encodeTime(now), job.Session, job.Kind, job.BasedOn); err != nil {
			return err
		}
		const upsert = `
			INSERT INTO job (session_id, kind, based_on, state, attempt, lease_until, created_at, started_at, queued_at, priority, payload)
			VALUES (?1, ?2, ?3, 'queued', 0, ?4, ?4, ?4, ?4, ?5, ?6)
			ON CONFLICT (session_id, kind, based_on) DO UPDATE SET
				state = 'queued', queued_at = ?4, priority = ?5, finished_at = NULL, error = '',
				checkpoint = iif(payload = ?6, checkpoint, NULL), payload = ?6
			WHERE state <> 'running' OR lease_until <= ?4`
		n, err := t.exec(upsert, job.Session, job.Kind, job.BasedOn, encodeTime(now), job.Priority, payload)
		if err == nil && n == 0 {
			return beingDone(job.JobKey)
		}
		return dangling(err, "there is no session %q", job.Session)
	})
}

func beingDone(k record.JobKey) error {
	return idrl.Errorf(idrl.Conflict, "job %s %d of session %s is being worked on", k.Kind, k.BasedOn, k.Session)
}

// BeginJob leases a job until lease and returns it. The number of the attempt is the
// caller's fence: the job can be reported on by its last starter only. It returns an
// error of kind Conflict if the job is leased to another, and of kind NotFound if its
// payload is not recorded.
func (db queue) BeginJob(ctx context.Context, key record.JobKey, now, lease time.Time) (job record.JobRecord, a record.JobAttempt, err error) {
	job, a = record.JobRecord{JobKey: key}, record.JobAttempt{JobKey: key}
	err = db.doPatiently(ctx, func(t *tx) error {
		const begin = `
			UPDATE job SET
				state = 'running', attempt = attempt + 1, lease_until = ?5, started_at = ?4,
				finished_at = NULL, done = 0, total = 0, what = '', error = ''
			WHERE session_id = ?1 AND kind = ?2 AND based_on = ?3 AND payload IS NOT NULL
				AND (state <> 'running' OR lease_until <= ?4)
			RETURNING attempt, priority, payload, checkpoint`
		err := t.row(begin, key.Session, key.Kind, key.BasedOn, encodeTime(now), encodeTime(lease)).
			Scan(&a.Attempt, &job.Priority, &job.Payload, &job.Checkpoint)
		if idrl.KindOf(missing(err, "")) != idrl.NotFound {
			return err
		}
		var recorded bool
		const exists = `SELECT EXISTS (SELECT 1 FROM job WHERE session_id = ? AND kind = ? AND based_on = ? AND payload IS NOT NULL)`
		if err := t.row(exists, key.Session, key.Kind, key.BasedOn).Scan(&recorded); err != nil {
			return err
		}
		if recorded {
			return beingDone(key)
		}
		return idrl.Errorf(idrl.NotFound, "job %s %d of session %s is not recorded", key.Kind, key.BasedOn, key.Session)
	})
	return job, a, err
}

// BeatJob extends the lease of a job and records its progress. It returns an error of kind Conflict
// if the job has been started again or has ended.
func (db queue) BeatJob(ctx context.Context, a record.JobAttempt, lease time.Time, p record.JobProgress) error {
	return db.report(ctx, a, `lease_until = ?5, done = ?6, total = ?7, what = ?8`, encodeTime(lease), p.Done, p.Total, p.What)
}

// SaveJob records the state from which a job continues if its worker dies. It returns the errors of
// BeatJob.
func (db queue) SaveJob(ctx context.Context, a record.JobAttempt, checkpoint []byte) error {
	return db.report(ctx, a, `checkpoint = ?5`, checkpoint)
}

// EndJob records the end of an attempt and why it ended, empty if the job is done. A
// job in state JobQueued can be begun again; of one in state JobDone payload and
// checkpoint are dropped. It returns the errors of BeatJob.
func (db queue) EndJob(ctx context.Context, a record.JobAttempt, now time.Time, state record.JobState, why string) error {
	const set = `
		state = ?5, error = ?6, finished_at = ?7,
		payload = iif(?5 = 'done', NULL, payload), checkpoint = iif(?5 = 'done', NULL, checkpoint)`
	return db.report(ctx, a, set, state, why, encodeTime(now))
}

// report changes the row of a running attempt. The first four parameters of set are taken.
func (db queue) report(ctx context.Context, a record.JobAttempt, set string, args ...any) error {
	return db.doPatiently(ctx, func(t *tx) error {
		update := `UPDATE job SET ` + set + ` WHERE session_id = ?1 AND kind = ?2 AND based_on = ?3 AND attempt = ?4 AND state = 'running'`
		n, err := t.exec(update, append([]any{a.Session, a.Kind, a.BasedOn, a.Attempt}, args...)...)
		if err == nil && n == 0 {
			return idrl.Errorf(idrl.Conflict, "the job was started again by another or has ended")
		}
		return err
	})
}

// WaitingJob returns the waiting job of a session that was queued last, or an error of kind
// NotFound.
func (db queue) WaitingJob(ctx context.Context, session idrl.SessionID, kind string) (record.JobRecord, error) {
	const query = `
		SELECT based_on, priority, payload, checkpoint FROM job
		WHERE session_id = ? AND kind = ? AND state = 'queued' AND payload IS NOT NULL
		ORDER BY queued_at DESC, based_on DESC LIMIT 1`
	job := record.JobRecord{JobKey: record.JobKey{Session: session, Kind: kind}}
	err := db.read.QueryRowContext(ctx, query, session, kind).Scan(&job.BasedOn, &job.Priority, &job.Payload, &job.Checkpoint)
	return job, missing(err, "no job %s of session %s waits", kind, session)
}

// releaseJobs frees the running jobs of a killed server. The caller holds the data folder, so no
// other server works on it.
func releaseJobs(ctx context.Context, p *sql.DB) error {
	_, err := p.ExecContext(ctx, `UPDATE job SET state = 'queued' WHERE state = 'running'`)
	return convert(err)
}
