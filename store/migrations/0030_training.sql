-- +goose Up

-- Trainings of candidates that have ended, in the order in which they did. The rows of earlier
-- versions are missing.
CREATE TABLE training (
	session_id TEXT NOT NULL REFERENCES session,
	n          INTEGER NOT NULL CHECK (n > 0),
	based_on   INTEGER NOT NULL, -- log position
	answers    INTEGER NOT NULL CHECK (answers >= 0), -- that counted, and that it trained from
	follow_up  INTEGER NOT NULL CHECK (follow_up IN (0, 1)),
	began_at   TEXT NOT NULL,
	ended_at   TEXT NOT NULL,
	outcome    TEXT NOT NULL CHECK (outcome IN ('done', 'cancelled', 'failed')),
	candidates INTEGER NOT NULL CHECK (candidates >= 0),
	why        TEXT NOT NULL, -- it failed, for researchers
	PRIMARY KEY (session_id, n)
) STRICT;
