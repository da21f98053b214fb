-- +goose Up

-- Settings of sessions that an account keeps under a name, as study files.
CREATE TABLE preset (
	user_id TEXT NOT NULL REFERENCES user,
	name    TEXT NOT NULL,
	file    TEXT NOT NULL,
	at      TEXT NOT NULL,
	PRIMARY KEY (user_id, name)
) STRICT, WITHOUT ROWID;
