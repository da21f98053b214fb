-- +goose Up

-- What a client reported that cannot be true, as idrl.Doubt, separated by commas.
ALTER TABLE answer ADD COLUMN doubts TEXT NOT NULL DEFAULT '';
