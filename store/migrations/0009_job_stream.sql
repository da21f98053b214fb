-- +goose Up

-- What a worker needs to do the job; NULL once it is done or given up, and for jobs that
-- are older than this column.
ALTER TABLE job ADD COLUMN payload BLOB;
ALTER TABLE job ADD COLUMN checkpoint BLOB; -- where to go on; NULL at the start
ALTER TABLE job ADD COLUMN priority INTEGER NOT NULL DEFAULT 0 CHECK (priority IN (0, 1)); -- as idrl.Priority
ALTER TABLE job ADD COLUMN queued_at TEXT; -- NULL if that is older than this column
