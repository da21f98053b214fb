package training

import (
	"context"
	"errors"
	"math"
	"slices"

	"tiebreak/internal/plan/behaviour"
	"tiebreak/internal/plan/solver"
)

// searchFeedback has the search for feedback go on for about that many steps. It does
// nothing where there is no gait to improve.
func (s *gaitTraining) searchFeedback(ctx context.Context, theta []float64, steps int) error {
	v, err := s.feedbackSearch(ctx, theta)
	if v == nil || err != nil {
		return err
	}
	if err := s.goOn(ctx, theta, v, v.Spent(), steps, "adding feedback to the best gait: iteration"); err != nil {
		return err
	}
	s.state.Feedback = v.Encode()
	return s.findGaits(ctx, theta, v, slices.Clone(v.Present()))
}

// feedbackSearch returns the search for feedback as the last job left it, unless a gait is
// known that is clearly better; nil where there is no gait.
func (s *gaitTraining) feedbackSearch(ctx context.Context, theta []float64) (*solver.FeedbackSearch, error) {
	f := solver.Feedback{Workers: gaitWorkers, NewEnv: s.ground}
	v, ok := left(s, "the search for feedback", s.state.Feedback, f.Continue, func(v *solver.FeedbackSearch) bool { return s.overtaken(theta, v) })
	if ok {
		return v, nil
	}
	task := s.task(theta)
	if task.Warm == nil {
		return nil, nil
	}
	s.state.Restarts++
	v, err := f.Begin(ctx, task, s.seed("search for feedback", s.state.Restarts))
	if errors.Is(err, solver.ErrBroken) { // from other start states than those by which it was valued
		return nil, nil
	}
	return v, err
}

// overtaken reports whether a gait is known that is clearly better than what the search for
// feedback found.
func (s *gaitTraining) overtaken(theta []float64, v *solver.FeedbackSearch) bool {
	k, ok := v.Best(theta)
	if !ok {
		return true
	}
	own, ok := s.best(theta, func(f found) bool { return slices.Equal(f.Known.Params, behaviour.Gait.Params(k.Params)) })
	best, _ := s.best(theta, isGait)
	if !ok {
		return false // it was valued at the end of the last job, and has been forgotten since
	}
	score := own.Known.Score(theta)
	return best.Known.Score(theta) > score+feedbackMargin*math.Abs(score)
}
