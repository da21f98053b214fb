package store

import (
	"context"
	"database/sql"
	"time"

	"tiebreak/internal/idrl"
)

// BeginJob starts the job (session, kind, basedOn) and leases it until lease.
// attempt counts its starts and is the caller's fence: the job can be reported
// on by its last starter only. It returns an error of kind Conflict if the job
// is leased to another, and of kind NotFound if there is no such session.
func (db *DB) BeginJob(ctx context.Context, session idrl.SessionID, kind string, basedOn int64, now, lease time.Time) (attempt int64, err error) {
	err = db.do(ctx, func(t *tx) error {
		const upsert = `
			INSERT INTO job (session_id, kind, based_on, state, attempt, lease_until, created_at, started_at)
			VALUES (?1, ?2, ?3, 'running', 1, ?5, ?4, ?4)
			ON CONFLICT (session_id, kind, based_on) DO UPDATE SET
				state = 'running', attempt = attempt + 1, lease_until = ?5, started_at = ?4,
				finished_at = NULL, done = 0, total = 0, what = '', error = ''
			WHERE state <> 'running' OR lease_until <= ?4
			RETURNING attempt`
		err := t.row(upsert, session, kind, basedOn, encodeTime(now), encodeTime(lease)).Scan(&attempt)
		if idrl.KindOf(missing(err, "")) == idrl.NotFound {
			return idrl.Errorf(idrl.Conflict, "job %s %d of session %s is being worked on", kind, basedOn, session)
		}
		return dangling(err, "there is no session %q", session)
	})
	return attempt, err
}

// BeatJob extends the lease of a job and records how far it is. It returns an
// error of kind Conflict if the job has been started again or has ended.
func (db *DB) BeatJob(ctx context.Context, session idrl.SessionID, kind string, basedOn, attempt int64, lease time.Time, done, total int, what string) error {
	return db.do(ctx, func(t *tx) error {
		const update = `
			UPDATE job SET lease_until = ?, done = ?, total = ?, what = ?
			WHERE session_id = ? AND kind = ? AND based_on = ? AND attempt = ? AND state = 'running'`
		n, err := t.exec(update, encodeTime(lease), done, total, what, session, kind, basedOn, attempt)
		return fenced(n, err)
	})
}

// EndJob records the end of a job: done if failure is empty, else failed. It
// returns the errors of BeatJob.
func (db *DB) EndJob(ctx context.Context, session idrl.SessionID, kind string, basedOn, attempt int64, now time.Time, failure string) error {
	return db.do(ctx, func(t *tx) error {
		const update = `
			UPDATE job SET state = iif(?1 = '', 'done', 'failed'), error = ?1, finished_at = ?2
			WHERE session_id = ?3 AND kind = ?4 AND based_on = ?5 AND attempt = ?6 AND state = 'running'`
		n, err := t.exec(update, failure, encodeTime(now), session, kind, basedOn, attempt)
		return fenced(n, err)
	})
}

func fenced(rows int64, err error) error {
	if err == nil && rows == 0 {
		return idrl.Errorf(idrl.Conflict, "the job was started again by another or has ended")
	}
	return err
}

// releaseJobs frees what a server that died was working on. The caller holds
// the data folder, so no other server works on it.
func releaseJobs(ctx context.Context, p *sql.DB) error {
	_, err := p.ExecContext(ctx, `UPDATE job SET state = 'queued' WHERE state = 'running'`)
	return convert(err)
}
