// Package episodes writes what people said about episodes that were recorded elsewhere as tables that stand beside the data set that the
// episodes are from: who preferred which, and a score for each episode ([docs/datasets.md]).
//
// [docs/datasets.md]: the section "Labels beside a LeRobot data set" describes the files.
package episodes
