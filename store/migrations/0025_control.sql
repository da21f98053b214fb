-- +goose Up

-- What researchers did to sessions as a whole: paused, resumed, closed, archived, renamed
-- them. The last row of a session says its state and its title; without one the session
-- runs and has the title of its spec.
CREATE TABLE control (
	session_id TEXT    NOT NULL REFERENCES session,
	n          INTEGER NOT NULL CHECK (n > 0),
	at         TEXT    NOT NULL,
	actor      TEXT    NOT NULL,
	action     TEXT    NOT NULL,
	state      TEXT    NOT NULL CHECK (state IN ('running', 'paused', 'closed', 'archived')),
	title      TEXT    NOT NULL CHECK (title <> ''),
	PRIMARY KEY (session_id, n)
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER control_update BEFORE UPDATE ON control BEGIN SELECT RAISE(ABORT, 'the record of a session is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER control_delete BEFORE DELETE ON control BEGIN SELECT RAISE(ABORT, 'the record of a session is append-only'); END;
-- +goose StatementEnd
