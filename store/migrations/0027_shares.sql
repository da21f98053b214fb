-- +goose Up

-- How much of the value of a question was about each rival of the first policy
-- (idrl.Why.Shares): names and parts with spaces between them, the largest first. Empty where
-- that is not known.
ALTER TABLE assignment ADD COLUMN why_shares TEXT NOT NULL DEFAULT '';
