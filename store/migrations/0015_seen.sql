-- +goose Up

-- What a person sees of a question, and the probability of a clear answer when it was
-- chosen (idrl.Why). All are 0 where that is not known.
ALTER TABLE assignment ADD COLUMN why_answerable REAL NOT NULL DEFAULT 0;
ALTER TABLE assignment ADD COLUMN why_apart REAL NOT NULL DEFAULT 0;
ALTER TABLE assignment ADD COLUMN why_motion_a REAL NOT NULL DEFAULT 0;
ALTER TABLE assignment ADD COLUMN why_motion_b REAL NOT NULL DEFAULT 0;
ALTER TABLE assignment ADD COLUMN why_lead REAL NOT NULL DEFAULT 0;
ALTER TABLE assignment ADD COLUMN why_seconds REAL NOT NULL DEFAULT 0;
