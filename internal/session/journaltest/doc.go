// Package journaltest holds what every idrl.Journal must do, as a test, and a Journal
// in memory for tests of sessions.
package journaltest
