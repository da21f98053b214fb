-- +goose Up

-- Name and version of the physics engine that the generation was computed with,
-- "MuJoCo 3.3.7"; empty where there is none, or it is not known.
ALTER TABLE generation ADD COLUMN engine TEXT NOT NULL DEFAULT '';
