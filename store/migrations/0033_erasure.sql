-- +goose Up

-- When no file of the data folder held what a person had left any more; NULL until then. For people
-- who withdrew under an earlier version the files are looked through once.
ALTER TABLE annotator ADD COLUMN erased_at TEXT;
CREATE INDEX annotator_owed ON annotator (session_id) WHERE withdrawn_at IS NOT NULL AND erased_at IS NULL;

-- Participants of crowd platforms who withdrew: keyed hashes, in no order and without pseudonym
-- or time, by which the same id begins no new part.
CREATE TABLE former (
	session_id  TEXT NOT NULL REFERENCES session,
	participant TEXT NOT NULL,
	PRIMARY KEY (session_id, participant)
) STRICT, WITHOUT ROWID;

-- SQLite before 3.42 takes json_valid(NULL) for false: its checks called links that are none of a crowd
-- platform damaged, and would not insert them.
CREATE TABLE invitation_new (
	hash       BLOB PRIMARY KEY CHECK (length(hash) = 32), -- SHA-256 of the token
	user_id    TEXT REFERENCES user,
	session_id TEXT REFERENCES session,
	uses_left  INTEGER NOT NULL CHECK (uses_left >= 0),
	created_at TEXT NOT NULL,
	expires_at TEXT NOT NULL,
	id         INTEGER, -- the number by which people call it, from 1
	uses       INTEGER, -- that it was made for; NULL if it is older than this column
	revoked_at TEXT,
	crowd      TEXT CHECK (crowd IS NULL OR json_valid(crowd)), -- idrl.Crowd; NULL for other links
	CHECK ((user_id IS NULL) <> (session_id IS NULL))
) STRICT;
INSERT INTO invitation_new SELECT hash, user_id, session_id, uses_left, created_at, expires_at, id, uses, revoked_at, crowd FROM invitation ORDER BY rowid;
DROP TABLE invitation;
ALTER TABLE invitation_new RENAME TO invitation;
CREATE UNIQUE INDEX invitation_id ON invitation (id);
