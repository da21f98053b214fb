-- +goose Up

-- Instructions that took the place of those that the session was made with (spec).
CREATE TABLE instructions (
	session_id TEXT    NOT NULL REFERENCES session,
	version    INTEGER NOT NULL CHECK (version > 1),
	format     TEXT    NOT NULL, -- 'markdown', or empty for plain text
	text       TEXT    NOT NULL,
	created_at TEXT    NOT NULL,
	PRIMARY KEY (session_id, version)
) STRICT;

-- Pictures that instructions of a session may show, by a hash of their content.
CREATE TABLE picture (
	session_id TEXT NOT NULL REFERENCES session,
	id         TEXT NOT NULL,
	type       TEXT NOT NULL, -- of the content: 'image/png'
	content    BLOB NOT NULL,
	created_at TEXT NOT NULL,
	PRIMARY KEY (session_id, id)
) STRICT;
