-- +goose Up

-- The clip that was chosen is much better.
ALTER TABLE answer ADD COLUMN much INTEGER NOT NULL DEFAULT 0 CHECK (much IN (0, 1));

-- What was remarked of both clips beside the choice: 'both_bad', 'both_good', or empty.
ALTER TABLE answer ADD COLUMN remark TEXT NOT NULL DEFAULT '';
