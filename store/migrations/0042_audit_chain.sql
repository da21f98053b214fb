-- +goose Up

-- Each row of the audit trail commits to the one before (store/audit.go). The actor and the object are in the hash by salted sums of
-- their own, so that a withdrawal can empty them together with the salt, and the hashes still fit. Rows of earlier versions get theirs
-- later, from the server: they are those up to the position that meta has.
ALTER TABLE audit ADD COLUMN salt BLOB;       -- 16 random bytes; empty: actor and object were erased
ALTER TABLE audit ADD COLUMN actor_sum BLOB;
ALTER TABLE audit ADD COLUMN object_sum BLOB;
ALTER TABLE audit ADD COLUMN hash BLOB;       -- NULL: a row of an earlier version that has none yet
INSERT INTO meta (key, value) SELECT 'audit before chain', coalesce(max(id), 0) FROM audit;

-- The acts without the answers, which are most of the rows.
CREATE INDEX audit_deeds ON audit (id) WHERE action NOT IN ('answer', 'withdraw');

DROP TRIGGER audit_update;
-- +goose StatementBegin
CREATE TRIGGER audit_update BEFORE UPDATE ON audit
WHEN NEW.id IS NOT OLD.id OR NEW.at IS NOT OLD.at OR NEW.action IS NOT OLD.action OR NEW.session_id IS NOT OLD.session_id
	OR NOT (
		(OLD.hash IS NULL AND NEW.hash IS NOT NULL AND NEW.actor IS OLD.actor AND NEW.object IS OLD.object)
		OR (NEW.actor = '' AND NEW.object = '' AND NEW.salt IS x'' AND NEW.hash IS OLD.hash
			AND NEW.actor_sum IS OLD.actor_sum AND NEW.object_sum IS OLD.object_sum
			AND EXISTS (SELECT 1 FROM annotator WHERE session_id = OLD.session_id AND id = OLD.actor AND withdrawn_at IS NOT NULL)))
BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
-- +goose StatementEnd
