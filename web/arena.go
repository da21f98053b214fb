package web

import (
	"context"

	"tiebreak/internal/bradley"
	"tiebreak/internal/idrl"
)

// An Entrant says which policy enters an arena.
type Entrant struct {
	Session idrl.SessionID
	After   int64  // log row after which it was the recommended policy; -1: the last one
	Title   string // for researchers; empty for that of the session
}

// Arenas makes arenas and says what they have found out.
type Arenas interface {
	// NewArena makes an arena and starts it. The rest of spec, which has title, budget and
	// what else differs from arena to arena, follows from the entrants. Errors are of kind
	// NotFound or Invalid, in words for people, where an entrant cannot be one.
	NewArena(ctx context.Context, spec idrl.SessionSpec, entrants []Entrant) (idrl.SessionID, error)
	// Arena returns what an arena has found out, and the answers that it is made of.
	Arena(ctx context.Context, id idrl.SessionID) (bradley.Report, []bradley.Outcome, error)
}
