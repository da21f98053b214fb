-- +goose Up

-- Questions to which a researcher has given the right answer (idrl.Known). The last row of a
-- question counts; a change is a new row.
CREATE TABLE known (
	session_id TEXT    NOT NULL REFERENCES session,
	version    INTEGER NOT NULL CHECK (version > 0), -- counts the changes of a session
	query_id   TEXT    NOT NULL,
	clip_a     TEXT    NOT NULL,
	use        TEXT    NOT NULL CHECK (use IN ('none', 'practice', 'gold')),
	choice     TEXT    NOT NULL,
	rating     REAL    NOT NULL,
	note       TEXT    NOT NULL,
	author     TEXT    NOT NULL,
	created_at TEXT    NOT NULL,
	PRIMARY KEY (session_id, version),
	FOREIGN KEY (session_id, query_id, clip_a) REFERENCES query
) STRICT;

-- Answers to questions for practice (idrl.Practice). They are no rows of the log.
CREATE TABLE practice (
	session_id   TEXT    NOT NULL,
	id           TEXT    NOT NULL, -- minted by the client
	annotator_id TEXT    NOT NULL,
	version      INTEGER NOT NULL, -- of the row of known that was shown
	choice       TEXT    NOT NULL,
	rating       REAL    NOT NULL,
	reason       TEXT    NOT NULL,
	left_side    TEXT    NOT NULL,
	shown_at     TEXT    NOT NULL,
	received_at  TEXT    NOT NULL,
	response_ms  INTEGER NOT NULL,
	hidden_ms    INTEGER NOT NULL,
	loops        INTEGER NOT NULL,
	input        TEXT    NOT NULL,
	PRIMARY KEY (session_id, id),
	FOREIGN KEY (session_id, annotator_id) REFERENCES annotator,
	FOREIGN KEY (session_id, version) REFERENCES known
) STRICT;

-- Version of the row of known that an assignment hides among the others; 0 of others.
ALTER TABLE assignment ADD COLUMN gold INTEGER NOT NULL DEFAULT 0 CHECK (gold >= 0);

-- How often gold questions come, where that was changed since the session was made.
ALTER TABLE session ADD COLUMN gold_every INTEGER;
