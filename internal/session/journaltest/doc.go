// Package journaltest holds what every idrl.Journal must do, as a test.
package journaltest
