// Package training is training as workers do it: the environment and the trainer of a
// session with their settings for live use, the handler of training jobs, and the
// bytes in which these travel.
package training

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"tiebreak/envs"
	"tiebreak/internal/belief"
	"tiebreak/internal/idrl"
)

// A Handler trains in a worker process. It keeps the trainers of the sessions that
// it trained last, each of which remembers what does not change between generations:
// up to 21 MB (ant), and up to 6 s to make again.
type Handler struct {
	Envs  envs.List // required; the server's
	Yield func()    // required; lowers the priority of the process; may be called again

	mu       sync.Mutex       // guards trainers
	trainers []sessionTrainer // the one used last at the end, at most maxTrainers
}

const maxTrainers = 8

type sessionTrainer struct {
	session idrl.SessionID
	idrl.Trainer
}

// Handle runs one training and returns the encoded generation.
func (h *Handler) Handle(ctx context.Context, payload []byte, report idrl.Progress) ([]byte, error) {
	var req request
	if err := json.Unmarshal(payload, &req); err != nil {
		return nil, fmt.Errorf("decode the training request: %w", err)
	}
	if req.BasedOn > 0 { // nobody can label before the first generation: it is not to wait
		h.Yield()
	}
	p, err := belief.Codec{}.DecodeBelief(req.Belief)
	if err != nil {
		return nil, err
	}
	t, err := h.trainer(req.Spec)
	if err != nil {
		return nil, err
	}
	g, err := t.Train(ctx, idrl.TrainJob{
		BasedOn: req.BasedOn, Posterior: p, Seed: req.Spec.Seed, Warm: req.Warm, Progress: report,
	})
	if err != nil {
		return nil, err
	}
	return encodeGeneration(g)
}

// trainer returns the trainer of a session, which it makes if need be. Equal specs
// make equal trainers, so that it does not matter which are kept.
func (h *Handler) trainer(spec idrl.SessionSpec) (idrl.Trainer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := slices.IndexFunc(h.trainers, func(t sessionTrainer) bool { return t.session == spec.ID })
	if k < 0 {
		t, err := New(h.Envs, spec)
		if err != nil {
			return nil, err
		}
		k = len(h.trainers)
		h.trainers = append(h.trainers, sessionTrainer{spec.ID, t})
	}
	t := h.trainers[k]
	h.trainers = append(slices.Delete(h.trainers, k, k+1), t)
	if over := len(h.trainers) - maxTrainers; over > 0 {
		h.trainers = slices.Delete(h.trainers, 0, over)
	}
	return t.Trainer, nil
}
