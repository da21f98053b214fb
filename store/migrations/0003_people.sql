-- +goose Up

ALTER TABLE invitation ADD COLUMN id INTEGER;   -- the number by which people call it, from 1
ALTER TABLE invitation ADD COLUMN uses INTEGER; -- that it was made for; NULL if it is older than this column
ALTER TABLE invitation ADD COLUMN revoked_at TEXT;
UPDATE invitation SET id = rowid;
UPDATE invitation SET uses = 1 WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX invitation_id ON invitation (id);

ALTER TABLE annotator ADD COLUMN invitation_id INTEGER; -- by which they joined; NULL if that is older than this column
ALTER TABLE annotator ADD COLUMN revoked_at TEXT;
-- What a researcher wants; the log says since when the posterior follows it.
ALTER TABLE annotator ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0 CHECK (left_out IN (0, 1));

ALTER TABLE session ADD COLUMN budget INTEGER; -- answers wanted, if that was changed; NULL: as in spec

CREATE INDEX login_annotator ON login (session_id, annotator_id);
