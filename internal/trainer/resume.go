package trainer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"
)

// A resume is what has been solved for in a training that may be interrupted. It is of
// use where there is a Remake, since solves take long there, but not in the first
// generation, where they do not; all else is done again.
type resume struct {
	before []idrl.Solved // by the interrupted training, not used yet
	done   []idrl.Solved // by this one, and those of before that it used
}

// solveOnce has s solve the task, unless the interrupted training did. The outcome is
// the same.
func (r *run) solveOnce(ctx context.Context, s idrl.Solver, task idrl.SolveTask, stream *rand.Rand) (idrl.Policy, error) {
	if r.remake == nil || r.job.First {
		return s.Solve(ctx, task, stream)
	}
	if p, ok, err := r.recall(task); ok {
		return p, err
	}
	p, err := s.Solve(ctx, task, stream)
	switch {
	case errors.Is(err, ErrBroken):
		r.save(idrl.Solved{Theta: task.Theta, Broken: true})
	case err == nil:
		r.save(idrl.Solved{Theta: task.Theta, Params: p.Params()})
	}
	return p, err
}

// recall returns the outcome of the next solve of the interrupted training, if it was
// for the weights of the task and its policy can be remade.
func (r *run) recall(task idrl.SolveTask) (p idrl.Policy, ok bool, err error) {
	if len(r.before) == 0 {
		return nil, false, nil
	}
	next := r.before[0]
	r.before = r.before[1:]
	ok = slices.Equal(next.Theta, task.Theta)
	switch {
	case !ok:
	case next.Broken:
		err = fmt.Errorf("in the interrupted training: %w", ErrBroken)
	default:
		p, ok = r.remade(task.Env, next.Params)
	}
	if !ok {
		r.before = nil // what it solved was something else
		return nil, false, nil
	}
	r.done = append(r.done, next)
	return p, true, err
}

func (r *run) remade(env idrl.Environment, params []float64) (idrl.Policy, bool) {
	p, err := r.remake(env, params)
	return p, err == nil
}

func (r *run) save(s idrl.Solved) {
	r.done = append(r.done, s)
	if r.job.Save != nil {
		r.job.Save(r.done)
	}
}
