package librarian

// For tests.
var (
	HoldTime = holdTime
	Turn     = turn
)
