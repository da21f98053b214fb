-- +goose Up

-- Consent texts that took the place of the one that the session was made with (spec). An
-- empty one asks nobody.
CREATE TABLE consent (
	session_id TEXT    NOT NULL REFERENCES session,
	version    INTEGER NOT NULL CHECK (version > 0),
	text       TEXT    NOT NULL, -- Markdown
	created_at TEXT    NOT NULL,
	PRIMARY KEY (session_id, version)
) STRICT;

-- Who agreed to which version, and when.
CREATE TABLE agreement (
	session_id   TEXT    NOT NULL,
	annotator_id TEXT    NOT NULL,
	version      INTEGER NOT NULL CHECK (version > 0),
	agreed_at    TEXT    NOT NULL,
	PRIMARY KEY (session_id, annotator_id, version),
	FOREIGN KEY (session_id, annotator_id) REFERENCES annotator
) STRICT;

-- The version of the consent text that the annotator had agreed to; 0 for none.
ALTER TABLE answer ADD COLUMN consent INTEGER NOT NULL DEFAULT 0 CHECK (consent >= 0);
