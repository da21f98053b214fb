package idrl

// Summary is a row in the list of sessions.
type Summary struct {
	Spec    SessionSpec
	Answers int // as in Status
	Skipped int // as in Status
	State   SessionState

	Paused string // why the session cannot run on this server; empty if it can, as far as is known
}
