-- +goose Up

-- Feature sums of single episodes of the policy, one after another, each as long as mu;
-- empty where policies are not told apart by their spread.
ALTER TABLE policy ADD COLUMN mus BLOB NOT NULL DEFAULT x'';
