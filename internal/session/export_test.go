package session

import (
	"context"
	"maps"
	"slices"

	"tiebreak/internal/idrl"
)

// AskedClips returns the clips that the session takes as asked about, in order.
func (s *Session) AskedClips(ctx context.Context) ([]idrl.ClipID, error) {
	return call(ctx, s.inbox, func() ([]idrl.ClipID, error) { return slices.Sorted(maps.Keys(s.shelf.asked)), nil })
}

// For tests.
const RepeatLag = repeatLag
