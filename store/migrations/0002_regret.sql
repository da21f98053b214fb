-- +goose Up

-- What regret_mean and regret_p95 mean: 1, returns, over the candidates in use
-- alone; 2, shares of the span, over all known policies (package regret), where
-- regret_p95 is the bound; 0, a row without a statement.
ALTER TABLE posterior ADD COLUMN regret_definition INTEGER NOT NULL DEFAULT 1;
ALTER TABLE posterior ADD COLUMN regret_within REAL DEFAULT 0;
ALTER TABLE posterior ADD COLUMN regret_unbeaten REAL DEFAULT 0;
ALTER TABLE posterior ADD COLUMN regret_span REAL DEFAULT 0;
ALTER TABLE posterior ADD COLUMN regret_policies INTEGER NOT NULL DEFAULT 0;

-- Policies that the first policy of a question was compared with; 0: not recorded.
ALTER TABLE assignment ADD COLUMN why_rivals INTEGER NOT NULL DEFAULT 0;

-- The policies that every generation of a session is trained with. Sessions that
-- were begun before this table have none.
CREATE TABLE pool (
	session_id TEXT NOT NULL REFERENCES session,
	id         TEXT NOT NULL,
	k          INTEGER NOT NULL, -- place in the pool
	origin     TEXT NOT NULL,
	mu         BLOB NOT NULL,
	clip_id    TEXT,
	PRIMARY KEY (session_id, id),
	UNIQUE (session_id, k),
	FOREIGN KEY (session_id, clip_id) REFERENCES clip
) STRICT;
