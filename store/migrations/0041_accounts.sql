-- +goose Up

-- Accounts have a role, and may have a password. A revoked one cannot sign in.
ALTER TABLE user ADD COLUMN role TEXT NOT NULL DEFAULT 'researcher' CHECK (role IN ('admin', 'researcher', 'viewer'));
ALTER TABLE user ADD COLUMN revoked_at TEXT;
ALTER TABLE user ADD COLUMN password TEXT; -- its hash, a PHC string of argon2id
ALTER TABLE token ADD COLUMN user_id TEXT REFERENCES user; -- whose rights limit it; NULL: made where the server runs

-- What an account may do in a session. Admins may do everything in all.
CREATE TABLE share (
	session_id  TEXT NOT NULL REFERENCES session,
	user_id     TEXT NOT NULL REFERENCES user,
	share_right TEXT NOT NULL CHECK (share_right IN ('view', 'export', 'change', 'own')),
	PRIMARY KEY (session_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX share_user ON share (user_id);
CREATE UNIQUE INDEX share_owner ON share (session_id) WHERE share_right = 'own';

-- One researcher becomes admin. Several keep what they saw: every session.
UPDATE user SET role = 'admin' WHERE (SELECT count(*) FROM user) = 1;
INSERT INTO share SELECT session.id, user.id, 'change' FROM session, user WHERE user.role <> 'admin';

-- A token follows the account that made it on a page.
UPDATE token SET user_id = (
	SELECT audit.actor FROM audit JOIN user ON user.id = audit.actor
	WHERE audit.action = 'make token' AND audit.object = 'token ' || token.id ORDER BY audit.id LIMIT 1);
