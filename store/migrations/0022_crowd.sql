-- +goose Up

-- How people come by the link from a crowd platform (idrl.Crowd); NULL for other links.
ALTER TABLE invitation ADD COLUMN crowd TEXT CHECK (json_valid(crowd));

-- Who a crowd platform says that an annotator is: as given, or keyed hashes of it.
CREATE TABLE participant (
	session_id   TEXT NOT NULL,
	annotator_id TEXT NOT NULL,
	participant  TEXT NOT NULL CHECK (participant <> ''),
	study        TEXT NOT NULL,
	submission   TEXT NOT NULL,
	PRIMARY KEY (session_id, annotator_id),
	UNIQUE (session_id, participant),
	FOREIGN KEY (session_id, annotator_id) REFERENCES annotator
) STRICT;

-- Of somebody who came back by the id in an address, which others may know: they may
-- answer, and see nothing of what was before.
ALTER TABLE login ADD COLUMN narrow INTEGER NOT NULL DEFAULT 0 CHECK (narrow IN (0, 1));
