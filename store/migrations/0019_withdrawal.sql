-- +goose Up

-- When the data of a person were withdrawn. Rows of theirs then belong to the annotator '',
-- who is nobody.
ALTER TABLE annotator ADD COLUMN withdrawn_at TEXT;

-- The log stays append-only, but for the rows of somebody who withdrew, which may be emptied.
DROP TRIGGER answer_update;
DROP TRIGGER audit_update;
-- +goose StatementBegin
CREATE TRIGGER answer_update BEFORE UPDATE ON answer
WHEN NEW.choice <> 'erased' OR NEW.annotator_id <> '' OR NEW.session_id <> OLD.session_id OR NEW.seq <> OLD.seq
	OR NEW.received_at <> OLD.received_at
	OR NOT EXISTS (SELECT 1 FROM annotator WHERE session_id = OLD.session_id AND id = OLD.annotator_id AND withdrawn_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_update BEFORE UPDATE ON audit
WHEN NEW.actor <> '' OR NEW.object <> '' OR NEW.id <> OLD.id OR NEW.at <> OLD.at OR NEW.action <> OLD.action
	OR NEW.session_id IS NOT OLD.session_id
	OR NOT EXISTS (SELECT 1 FROM annotator WHERE session_id = OLD.session_id AND id = OLD.actor AND withdrawn_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
-- +goose StatementEnd

-- Databases of earlier versions hold copies of deleted content in free space. They are
-- rewritten once.
INSERT INTO meta (key, value) SELECT 'scrub', 'all' WHERE EXISTS (SELECT 1 FROM annotator);
