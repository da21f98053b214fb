package trainer

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/idrl"
)

// A cut is a clip of a behaviour that was not drawn.
type cut struct {
	behaviour int
	from      int // first step
	phi       []float64
}

// along returns the clip of all behaviours, shown or not, that is the most along a direction of features; nil if there is none. The
// first call plays them all.
func (s *Stock) along(ctx context.Context, direction []float64) (*rollout, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	r := s.run()
	if s.cuts == nil {
		var cuts []cut
		for k := range s.Behaviours {
			more, err := s.cutsOf(ctx, r, k)
			if errors.Is(err, ErrBroken) {
				continue
			}
			if err != nil {
				return nil, err
			}
			cuts = append(cuts, more...)
		}
		s.cuts = cuts
	}
	var best *cut
	for i, c := range s.cuts {
		if best == nil || floats.Dot(direction, c.phi) > floats.Dot(direction, best.phi) {
			best = &s.cuts[i]
		}
	}
	if best == nil {
		return nil, nil
	}
	t, err := s.episode(r, best.behaviour)
	if err != nil {
		return nil, err
	}
	return r.rolled(t, 0, best.from)
}

// episode plays behaviour k.
func (s *Stock) episode(r *run, k int) (*idrl.Trajectory, error) {
	p, err := s.Remake(r.env, s.Behaviours[k].Params)
	if err != nil {
		return nil, fmt.Errorf("behaviour %q: %w", s.Behaviours[k].Name, err)
	}
	return r.episode(idrl.PolicyID(fmt.Sprintf("behaviour%d", k)), p, 0)
}

// cutsOf returns the clips of behaviour k, each half a clip after the one before. Of what falls the last one
// shows the fall, and the others are from before it, as in steadyClips.
func (s *Stock) cutsOf(ctx context.Context, r *run, k int) (out []cut, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t, err := s.episode(r, k)
	if err != nil {
		return nil, err
	}
	add := func(from, long int) {
		phi := make([]float64, len(t.Phi[from]))
		for _, row := range t.Phi[from : from+long] {
			floats.Add(phi, row)
		}
		out = append(out, cut{k, from, phi})
	}
	long, n := r.clipLen(t), t.Len()
	if n < 2*long {
		add(0, long)
		return out, nil
	}
	fall := min(t.Fall(), n+1)
	for from := long / 2; from+long <= min(fall, n); from += max(1, long/2) {
		add(from, long)
	}
	if fall <= n {
		add(max(0, min(fall-long/2, n-long)), long)
	}
	return out, nil
}
