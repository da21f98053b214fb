-- +goose Up

-- What researchers were told of sessions, and whether it still holds: one of a kind for each session.
CREATE TABLE notice (
	session_id TEXT NOT NULL REFERENCES session,
	kind       TEXT NOT NULL,
	text       TEXT NOT NULL,
	since      TEXT NOT NULL,
	told_at    TEXT NOT NULL,
	holds      INTEGER NOT NULL,
	PRIMARY KEY (session_id, kind)
) STRICT, WITHOUT ROWID;

-- Notices that the web hook has not taken yet, in the order in which they are sent.
CREATE TABLE notice_unsent (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	session_id TEXT NOT NULL REFERENCES session,
	title      TEXT NOT NULL,
	kind       TEXT NOT NULL,
	text       TEXT NOT NULL,
	since      TEXT NOT NULL
) STRICT;
