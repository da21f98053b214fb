package session

import (
	"context"

	"tiebreak/internal/idrl"
)

// Posterior returns the posterior as it is now.
func (s *Session) Posterior(ctx context.Context) (idrl.Held, error) {
	return call(ctx, s, func() (idrl.Held, error) {
		return idrl.Held{Seq: s.log.seq(), Representation: s.features.version(), Posterior: s.learner.Posterior()}, nil
	})
}

// Posterior is Session.Posterior.
func (h Handle) Posterior(ctx context.Context) (idrl.Held, error) {
	s, err := h.Manager.Session(ctx, h.ID)
	if err != nil {
		return idrl.Held{}, err
	}
	return s.Posterior(ctx)
}
