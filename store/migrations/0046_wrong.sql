-- +goose Up

-- When it went wrong, in sessions that ask whether a clip shows a success: milliseconds from its first frame; 0 where nothing was said.
ALTER TABLE answer ADD COLUMN wrong_ms INTEGER NOT NULL DEFAULT 0;
