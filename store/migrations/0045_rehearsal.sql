-- +goose Up

-- Rehearsals that forms of the server began, with what was asked and the report as JSON. Without a time of its end a rehearsal is
-- under way, or the server ended before it did.
CREATE TABLE rehearsal (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	name     TEXT NOT NULL UNIQUE,
	user_id  TEXT NOT NULL REFERENCES user,
	title    TEXT NOT NULL,
	asked    TEXT NOT NULL,
	began_at TEXT NOT NULL,
	ended_at TEXT,
	wrong    TEXT NOT NULL DEFAULT '',
	report   TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX rehearsal_user ON rehearsal (user_id);

-- The name of a notice for the web hook, the same each time that it is sent. It is drawn at random, because a backup that is
-- restored counts rows again from an earlier one.
ALTER TABLE notice_unsent ADD COLUMN key TEXT NOT NULL DEFAULT '';

UPDATE notice_unsent SET key = lower(hex(randomblob(16)));
