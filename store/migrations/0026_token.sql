-- +goose Up

-- Tokens of programs that use the HTTP API. Only the SHA-256 of a token is kept.
CREATE TABLE token (
	id           INTEGER PRIMARY KEY,
	hash         BLOB NOT NULL UNIQUE,
	name         TEXT NOT NULL,
	scope        TEXT NOT NULL CHECK (scope IN ('read', 'label', 'write')),
	session_id   TEXT REFERENCES session, -- NULL: every session
	annotator_id TEXT,                    -- that answers given with it are of; scope label
	created_at   TEXT NOT NULL,
	expires_at   TEXT NOT NULL,
	revoked_at   TEXT,
	FOREIGN KEY (session_id, annotator_id) REFERENCES annotator,
	CHECK (scope <> 'label' OR session_id IS NOT NULL AND annotator_id IS NOT NULL)
) STRICT;
