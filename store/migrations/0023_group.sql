-- +goose Up

-- The clips of a question after the second, from place 2 on. Only groups have them.
CREATE TABLE group_clip (
	session_id TEXT    NOT NULL,
	query_id   TEXT    NOT NULL,
	clip_a     TEXT    NOT NULL,
	place      INTEGER NOT NULL CHECK (place >= 2),
	clip_id    TEXT    NOT NULL,
	PRIMARY KEY (session_id, query_id, clip_a, place),
	FOREIGN KEY (session_id, query_id, clip_a) REFERENCES query,
	FOREIGN KEY (session_id, clip_id) REFERENCES clip
) STRICT;

CREATE INDEX group_clip_clip ON group_clip (session_id, clip_id);

-- In which order the clips of a group are to be shown, and were: "cafbed". Empty for other questions.
ALTER TABLE assignment ADD COLUMN shown_order TEXT NOT NULL DEFAULT '';
ALTER TABLE answer ADD COLUMN shown_order TEXT NOT NULL DEFAULT '';

-- Of an answer to a group, the clips by place, 'a' to 'f'; else empty.
ALTER TABLE answer ADD COLUMN best TEXT NOT NULL DEFAULT '';
ALTER TABLE answer ADD COLUMN worst TEXT NOT NULL DEFAULT '';
