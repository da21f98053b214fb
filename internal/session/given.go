package session

import (
	"context"

	"tiebreak/internal/idrl"
)

// Given returns the answers of the annotator that they can still withdraw, the last one first.
func (s *Session) Given(ctx context.Context, who idrl.AnnotatorID) ([]idrl.Given, error) {
	return call(ctx, s, func() (out []idrl.Given, err error) {
		for _, id := range s.log.lastOf(who) {
			a := s.log.find(id)
			out = append(out, idrl.Given{
				ID: id, Clips: s.asked.get(a.Assignment).Query.Clips, Choice: a.Choice, Rating: a.Rating, Much: a.Much, Remark: a.Remark, Left: a.Left, Best: a.Best, Worst: a.Worst,
			})
		}
		return out, nil
	})
}
