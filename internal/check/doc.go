// Package check is the room of tests of the house itself.
//
// The repository enters; what is wrong with it leaves: imports that the tables of
// docs/design.md do not allow, folders that do not say what they are, and tests that no task
// runs (archtest), dead links and citations (doctest). Folder tools pins the linter and the
// programs of other languages that tests use.
//
// Nothing of the program imports it.
package check
