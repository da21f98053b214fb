-- +goose Up

-- What a question was asked for (idrl.Purpose), and the probabilities of the first policy and of
-- the rivals in why_shares to be the best, as they were then, in thousandths with spaces between
-- them. Empty where an earlier version asked; why_best also where the strategy does not compute it.
ALTER TABLE assignment ADD COLUMN purpose TEXT NOT NULL DEFAULT '';
ALTER TABLE assignment ADD COLUMN why_best TEXT NOT NULL DEFAULT '';
