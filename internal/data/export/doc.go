// Package export writes the answers of a session as a data set: one record an
// answer, as JSON lines or CSV, with stable ids and stated polarity. The file
// docs/datasets.md describes the columns.
package export
