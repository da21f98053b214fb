-- +goose Up

-- What researchers say of workers on other machines (record.WorkerBar), the last for each.
CREATE TABLE worker_bar (
	worker TEXT PRIMARY KEY,
	bar    TEXT NOT NULL CHECK (bar IN ('drained', 'banned', 'allowed')),
	who    TEXT NOT NULL,
	at     TEXT NOT NULL,
	why    TEXT NOT NULL
) STRICT;
