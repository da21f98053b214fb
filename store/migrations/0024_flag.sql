-- +goose Up
-- What annotators tell the researcher about questions.
CREATE TABLE flag (
	session_id    TEXT NOT NULL,
	id            TEXT NOT NULL, -- minted by the client
	annotator_id  TEXT NOT NULL,
	assignment_id TEXT NOT NULL,
	note          TEXT NOT NULL,
	received_at   TEXT NOT NULL,
	PRIMARY KEY (session_id, id),
	FOREIGN KEY (session_id, annotator_id) REFERENCES annotator
) STRICT;
