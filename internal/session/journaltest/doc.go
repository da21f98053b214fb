// Package journaltest holds what every record.Journal must do, as a test.
package journaltest
