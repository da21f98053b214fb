-- +goose Up

-- The raw steps of trajectories that clips were cut from, as package steps encodes
-- them. id is a hash of the content.
CREATE TABLE steps (
	session_id TEXT NOT NULL REFERENCES session,
	id         TEXT NOT NULL CHECK (length(id) = 32),
	content    BLOB NOT NULL,
	PRIMARY KEY (session_id, id)
) STRICT;

-- Of the trajectory that the clip was cut from. NULL where its steps are not kept:
-- clips of earlier formats, and states that were not reached by acting.
ALTER TABLE clip ADD COLUMN steps_id TEXT;
