-- +goose Up

-- The latest version of the session's instructions that the annotator has acknowledged; 0
-- for none.
ALTER TABLE annotator ADD COLUMN acknowledged INTEGER NOT NULL DEFAULT 0 CHECK (acknowledged >= 0);
