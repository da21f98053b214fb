-- +goose Up

-- The mean of the weights after a log row, and under learnt features the probabilities of the
-- outcomes of its answer by the posterior before it. Both are empty where they are not known.
-- posterior.belief is empty from now on.
ALTER TABLE posterior ADD COLUMN mean BLOB NOT NULL DEFAULT x'';
ALTER TABLE posterior ADD COLUMN foretold BLOB NOT NULL DEFAULT x'';

-- The last posteriors of a session, encoded. A slot is written again and again.
CREATE TABLE belief (
	session_id TEXT NOT NULL,
	slot       INTEGER NOT NULL,
	seq        INTEGER NOT NULL,
	content    BLOB NOT NULL,
	PRIMARY KEY (session_id, slot),
	FOREIGN KEY (session_id, seq) REFERENCES posterior
) STRICT;

-- The covariance of the posterior that a generation was trained from: its upper triangle, by
-- rows. Empty of generations of earlier versions, whose posterior is in posterior.belief.
ALTER TABLE generation ADD COLUMN cov BLOB NOT NULL DEFAULT x'';
