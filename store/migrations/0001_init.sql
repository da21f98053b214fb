-- +goose Up

-- Times are text, UTC, "2006-01-02T15:04:05.000000000Z", so that they sort.
-- Vectors are little-endian float64 blobs. A REAL that may be NaN is nullable:
-- SQLite keeps NaN as NULL.

CREATE TABLE meta (
	key   TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
	id         TEXT PRIMARY KEY CHECK (id <> ''),
	created_at TEXT NOT NULL,
	spec       TEXT NOT NULL CHECK (json_valid(spec)) -- idrl.SessionSpec
) STRICT;

CREATE TABLE annotator (
	session_id TEXT NOT NULL REFERENCES session,
	id         TEXT NOT NULL, -- a pseudonym: a1, a2, …
	name       TEXT NOT NULL, -- what they call themselves; may be empty
	created_at TEXT NOT NULL,
	PRIMARY KEY (session_id, id)
) STRICT;

CREATE TABLE user (
	id         TEXT PRIMARY KEY CHECK (id <> ''),
	created_at TEXT NOT NULL
) STRICT;

-- A link that lets somebody in: a researcher (user_id) or annotators (session_id).
CREATE TABLE invitation (
	hash       BLOB PRIMARY KEY CHECK (length(hash) = 32), -- SHA-256 of the token
	user_id    TEXT REFERENCES user,
	session_id TEXT REFERENCES session,
	uses_left  INTEGER NOT NULL CHECK (uses_left >= 0),
	created_at TEXT NOT NULL,
	expires_at TEXT NOT NULL,
	CHECK ((user_id IS NULL) <> (session_id IS NULL))
) STRICT;

CREATE TABLE login (
	hash         BLOB PRIMARY KEY CHECK (length(hash) = 32), -- SHA-256 of the cookie
	user_id      TEXT REFERENCES user,
	session_id   TEXT,
	annotator_id TEXT,
	created_at   TEXT NOT NULL,
	seen_at      TEXT NOT NULL,
	FOREIGN KEY (session_id, annotator_id) REFERENCES annotator,
	CHECK ((user_id IS NULL) <> (annotator_id IS NULL)),
	CHECK ((session_id IS NULL) = (annotator_id IS NULL))
) STRICT;

CREATE TABLE clip (
	session_id    TEXT NOT NULL REFERENCES session,
	id            TEXT NOT NULL, -- content hash
	trajectory_id TEXT NOT NULL,
	start         INTEGER NOT NULL,
	steps         INTEGER NOT NULL,
	phi           BLOB NOT NULL,
	media         BLOB, -- what the page plays; NULL where nothing is drawn
	PRIMARY KEY (session_id, id)
) STRICT;

CREATE TABLE generation (
	session_id TEXT NOT NULL REFERENCES session,
	based_on   INTEGER NOT NULL,
	adopted_at INTEGER NOT NULL, -- log position
	queries    BLOB NOT NULL,    -- encodeQueries
	created_at TEXT NOT NULL,
	PRIMARY KEY (session_id, based_on)
) STRICT;

CREATE TABLE policy (
	session_id TEXT NOT NULL,
	id         TEXT NOT NULL,
	based_on   INTEGER NOT NULL,
	k          INTEGER NOT NULL, -- place among the candidates of its generation
	origin     TEXT NOT NULL,
	params     BLOB NOT NULL,
	theta      BLOB NOT NULL,
	mu         BLOB NOT NULL,
	clip_id    TEXT,
	PRIMARY KEY (session_id, id),
	UNIQUE (session_id, based_on, k),
	FOREIGN KEY (session_id, based_on) REFERENCES generation,
	FOREIGN KEY (session_id, clip_id) REFERENCES clip
) STRICT;

-- A question that was asked. (a, b) and (b, a) have one id but opposite x.
CREATE TABLE query (
	session_id TEXT NOT NULL,
	id         TEXT NOT NULL,
	clip_a     TEXT NOT NULL,
	clip_b     TEXT, -- NULL for a rating
	kind       TEXT NOT NULL,
	x          BLOB NOT NULL,
	PRIMARY KEY (session_id, id, clip_a),
	FOREIGN KEY (session_id, clip_a) REFERENCES clip,
	FOREIGN KEY (session_id, clip_b) REFERENCES clip
) STRICT;

CREATE TABLE assignment (
	session_id   TEXT NOT NULL,
	id           TEXT NOT NULL CHECK (id <> ''),
	n            INTEGER NOT NULL,
	query_id     TEXT NOT NULL,
	clip_a       TEXT NOT NULL,
	annotator_id TEXT NOT NULL,
	left_side    TEXT NOT NULL,
	issued_at    TEXT NOT NULL,
	lease_until  TEXT NOT NULL,
	answer_id    TEXT, -- that closed it
	reopens      TEXT, -- the withdrawn answer whose question this asks again
	why_first    TEXT NOT NULL,
	why_second   TEXT NOT NULL,
	why_pair_std REAL,
	why_info     REAL,
	why_based_on INTEGER NOT NULL,
	why_after    INTEGER NOT NULL,
	PRIMARY KEY (session_id, id),
	UNIQUE (session_id, n),
	FOREIGN KEY (session_id, query_id, clip_a) REFERENCES query,
	FOREIGN KEY (session_id, annotator_id) REFERENCES annotator
) STRICT;

-- May this annotator see this clip: by assignment, then query.
CREATE INDEX assignment_annotator ON assignment (session_id, annotator_id, query_id);
CREATE INDEX query_clip_a ON query (session_id, clip_a);
CREATE INDEX query_clip_b ON query (session_id, clip_b);

-- The log. Append-only: answers and withdrawals.
CREATE TABLE answer (
	session_id    TEXT NOT NULL REFERENCES session,
	seq           INTEGER NOT NULL CHECK (seq >= 1),
	id            TEXT NOT NULL CHECK (id <> ''),
	assignment_id TEXT,
	query_id      TEXT NOT NULL,
	annotator_id  TEXT NOT NULL,
	undoes        TEXT, -- not NULL: this row withdraws that answer
	choice        TEXT NOT NULL,
	rating        REAL NOT NULL,
	reason        TEXT NOT NULL,
	left_side     TEXT NOT NULL,
	shown_at      TEXT NOT NULL,
	answered_at   TEXT NOT NULL,
	received_at   TEXT NOT NULL,
	response_ms   INTEGER NOT NULL,
	hidden_ms     INTEGER NOT NULL,
	loops         INTEGER NOT NULL,
	input         TEXT NOT NULL,
	instructions  INTEGER NOT NULL,
	late          INTEGER NOT NULL CHECK (late IN (0, 1)),
	PRIMARY KEY (session_id, seq),
	UNIQUE (session_id, id),
	UNIQUE (session_id, undoes),
	FOREIGN KEY (session_id, assignment_id) REFERENCES assignment,
	FOREIGN KEY (session_id, annotator_id) REFERENCES annotator,
	FOREIGN KEY (session_id, undoes) REFERENCES answer (session_id, id)
) STRICT;

-- An assignment is answered at most once.
CREATE UNIQUE INDEX answer_assignment ON answer (session_id, assignment_id) WHERE undoes IS NULL;

-- The belief after a log row: a cache, written with the row.
CREATE TABLE posterior (
	session_id  TEXT NOT NULL,
	seq         INTEGER NOT NULL,
	belief      BLOB NOT NULL,
	regret_mean REAL,
	regret_p95  REAL,
	PRIMARY KEY (session_id, seq),
	FOREIGN KEY (session_id, seq) REFERENCES answer
) STRICT;

CREATE TABLE job (
	id          INTEGER PRIMARY KEY,
	session_id  TEXT NOT NULL REFERENCES session,
	kind        TEXT NOT NULL,
	based_on    INTEGER NOT NULL,
	state       TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed')),
	attempt     INTEGER NOT NULL, -- counts the starts; the fence against a late worker
	lease_until TEXT NOT NULL,
	done        INTEGER NOT NULL DEFAULT 0,
	total       INTEGER NOT NULL DEFAULT 0,
	what        TEXT NOT NULL DEFAULT '',
	error       TEXT NOT NULL DEFAULT '',
	created_at  TEXT NOT NULL,
	started_at  TEXT NOT NULL,
	finished_at TEXT,
	UNIQUE (session_id, kind, based_on)
) STRICT;

CREATE TABLE audit (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	at         TEXT NOT NULL,
	session_id TEXT, -- NULL where no session is concerned
	actor      TEXT NOT NULL,
	action     TEXT NOT NULL,
	object     TEXT NOT NULL
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER answer_update BEFORE UPDATE ON answer BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER answer_delete BEFORE DELETE ON answer BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_delete BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
-- +goose StatementEnd
