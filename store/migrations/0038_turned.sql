-- +goose Up

-- Up to which row of the log a person's answers shall count turned; 0: none. It is the last row when
-- a researcher decided it, then the row by which the log follows.
ALTER TABLE annotator ADD COLUMN turned INTEGER NOT NULL DEFAULT 0 CHECK (turned >= 0 AND (turned = 0 OR left_out = 0));
