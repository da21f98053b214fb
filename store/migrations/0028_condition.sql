-- +goose Up

-- How the question was chosen, in a session with several conditions: a strategy, or 'held_out'.
ALTER TABLE assignment ADD COLUMN condition TEXT NOT NULL DEFAULT '';
