-- +goose Up

-- States of trainings that go on from generation to generation (idrl.Generation.Agents).
CREATE TABLE agent (
	session_id TEXT NOT NULL REFERENCES session,
	name       TEXT NOT NULL,
	hash       BLOB NOT NULL CHECK (length(hash) = 32), -- SHA-256 of the content
	content    BLOB NOT NULL,
	PRIMARY KEY (session_id, name)
) STRICT;
