-- +goose Up

-- The waiting question of the same person that an assignment is asked before, because it was worth more
-- when that had been sent but was not on the screen yet. Empty for others.
ALTER TABLE assignment ADD COLUMN asked_before TEXT NOT NULL DEFAULT '';
