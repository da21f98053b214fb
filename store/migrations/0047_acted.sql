-- +goose Up

-- What an upload says of its trajectory: the policy that acted, its task, and its start; empty where nothing was said.
ALTER TABLE policy ADD COLUMN acted_policy TEXT NOT NULL DEFAULT '';
ALTER TABLE policy ADD COLUMN acted_task TEXT NOT NULL DEFAULT '';
ALTER TABLE policy ADD COLUMN acted_start TEXT NOT NULL DEFAULT '';
