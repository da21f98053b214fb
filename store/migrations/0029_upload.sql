-- +goose Up
-- Tokens with which programs upload clips.
CREATE TABLE token_wider (
	id           INTEGER PRIMARY KEY,
	hash         BLOB NOT NULL UNIQUE,
	name         TEXT NOT NULL,
	scope        TEXT NOT NULL CHECK (scope IN ('read', 'label', 'write', 'upload')),
	session_id   TEXT REFERENCES session, -- NULL: every session
	annotator_id TEXT,                    -- that answers given with it are of; scope label
	created_at   TEXT NOT NULL,
	expires_at   TEXT NOT NULL,
	revoked_at   TEXT,
	FOREIGN KEY (session_id, annotator_id) REFERENCES annotator,
	CHECK (scope <> 'label' OR session_id IS NOT NULL AND annotator_id IS NOT NULL)
) STRICT;
INSERT INTO token_wider SELECT id, hash, name, scope, session_id, annotator_id, created_at, expires_at, revoked_at FROM token;
DROP TABLE token;
ALTER TABLE token_wider RENAME TO token;
