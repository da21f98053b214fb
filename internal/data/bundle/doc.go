// Package bundle writes a session as a data set that other programs load: tables in Parquet,
// trajectories, clips, forms that libraries for learning from preferences read, and records
// in JSON lines, from which it makes the session again. The file docs/datasets.md describes it.
package bundle
