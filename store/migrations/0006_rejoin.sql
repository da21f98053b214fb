-- +goose Up

-- A secret that an annotator's browser keeps besides the cookie. It signs in the
-- same annotator again where the login has ended.
CREATE TABLE rejoin_key (
	hash         BLOB PRIMARY KEY CHECK (length(hash) = 32), -- SHA-256 of the key
	session_id   TEXT NOT NULL,
	annotator_id TEXT NOT NULL,
	created_at   TEXT NOT NULL,
	used_at      TEXT NOT NULL,
	FOREIGN KEY (session_id, annotator_id) REFERENCES annotator
) STRICT;

CREATE INDEX rejoin_key_annotator ON rejoin_key (session_id, annotator_id, used_at);
