-- +goose Up

-- The states of agents in parts, which are written one by one before the generation that
-- names them by their hash: answers wait for one part at most.
CREATE TABLE agent_part (
	session_id TEXT NOT NULL REFERENCES session,
	hash       BLOB NOT NULL CHECK (length(hash) = 32), -- SHA-256 of all parts together
	part       INTEGER NOT NULL CHECK (part >= 0),
	content    BLOB NOT NULL,
	PRIMARY KEY (session_id, hash, part)
) STRICT;
INSERT OR IGNORE INTO agent_part (session_id, hash, part, content) SELECT session_id, hash, 0, content FROM agent;
ALTER TABLE agent DROP COLUMN content;
