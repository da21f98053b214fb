-- +goose Up

-- What a query is as a vector follows from its clips and the representation in use.
ALTER TABLE query DROP COLUMN x;

-- Names of the raw steps of the policy's episodes, separated by spaces. Empty where
-- they are not kept: policies of earlier formats.
ALTER TABLE policy ADD COLUMN rollouts TEXT NOT NULL DEFAULT '';
ALTER TABLE pool ADD COLUMN rollouts TEXT NOT NULL DEFAULT '';

-- Version of the representation whose weights belief is about; 0 for the features of
-- the environment.
ALTER TABLE posterior ADD COLUMN representation INTEGER NOT NULL DEFAULT 0;

-- Representations that were learnt from answers (idrl.LearntFit).
CREATE TABLE fit (
	session_id TEXT NOT NULL REFERENCES session,
	version    INTEGER NOT NULL CHECK (version > 0),
	learner    TEXT NOT NULL,
	based_on   INTEGER NOT NULL, -- log position
	adopted_at INTEGER NOT NULL, -- log position
	seed       BLOB NOT NULL CHECK (length(seed) = 8), -- little-endian
	content    BLOB NOT NULL,
	hash       BLOB NOT NULL CHECK (length(hash) = 32), -- SHA-256 of the content
	created_at TEXT NOT NULL,
	PRIMARY KEY (session_id, version)
) STRICT;
