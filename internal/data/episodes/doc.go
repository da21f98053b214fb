// Package episodes writes what people said about episodes that were recorded elsewhere as tables that stand beside the data set that the
// episodes are from: who preferred which, and a score for each episode. The file docs/datasets.md describes them.
package episodes
