package bundle

import "tiebreak/internal/idrl"

// A shape is what the arrays of the adapters have to be made for.
type shape struct {
	lengths map[int]int // comparisons of two moving clips with raw steps, by the length of both

	obs, actions int // numbers of an observation and of an action
	steps        int // of all trajectories
}

// add takes in a comparison.
func (s *shape) add(r *idrl.Labelled) {
	if s.lengths == nil {
		s.lengths = map[int]int{}
	}
	a, b := &r.Clips[0], &r.Clips[1]
	if a.Raw != "" && b.Raw != "" && a.Steps > 0 && a.Steps == b.Steps {
		s.lengths[a.Steps]++
	}
}

// episode takes in a trajectory.
func (s *shape) episode(_ idrl.StepsID, of *idrl.Steps) {
	s.obs, s.actions = len(of.Obs[0]), len(of.Actions[0])
	s.steps += of.Len()
}
