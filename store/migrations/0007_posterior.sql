-- +goose Up

-- Which function of the log belief is (idrl.PosteriorDefinition).
ALTER TABLE posterior ADD COLUMN definition INTEGER NOT NULL DEFAULT 0;
