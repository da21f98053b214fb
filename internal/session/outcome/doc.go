// Package outcome makes files of what a session has learnt: its reward and its policies.
// The file docs/datasets.md describes them.
package outcome
