package trainer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"
)

// A resume is the progress of a training that may be interrupted. It is used
// only with a Remake, where solves and rollouts take long.
type resume struct {
	before idrl.TrainState // of the interrupted training, as far as it is not used yet
	now    idrl.TrainState // of this one, with what it used of before
}

// solveOnce has s solve for a candidate, unless the interrupted training did, and from
// where that one was if it was in the middle of it. The outcome is the same.
func (r *run) solveOnce(ctx context.Context, s idrl.Solver, task idrl.SolveTask, stream *rand.Rand) (idrl.Policy, error) {
	if r.remake == nil || r.job.First && r.first != nil {
		return s.Solve(ctx, task, stream)
	}
	if p, ok, err := r.recall(task); ok {
		return p, err
	}
	task.Resume, task.Save = r.before.Search, r.saveSearch
	r.before = idrl.TrainState{} // if solves are left, they were for something else
	p, err := s.Solve(ctx, task, stream)
	switch {
	case errors.Is(err, ErrBroken):
		r.saveSolved(idrl.Solved{Theta: task.Theta, Broken: true})
	case err == nil:
		r.saveSolved(idrl.Solved{Theta: task.Theta, Params: p.Params()})
	}
	return p, err
}

// recall returns the outcome of the next solve of the interrupted training, if it was
// for the weights of the task and its policy can be remade.
func (r *run) recall(task idrl.SolveTask) (p idrl.Policy, ok bool, err error) {
	next, ok := pop(&r.before.Solved, task.Theta)
	switch {
	case !ok:
		return nil, false, nil
	case next.Broken:
		err = fmt.Errorf("in the interrupted training: %w", ErrBroken)
	default:
		if p, ok = r.remade(next.Params); !ok {
			return nil, false, nil
		}
	}
	r.now.Solved = append(r.now.Solved, next)
	return p, true, err
}

func (r *run) remade(params []float64) (idrl.Policy, bool) {
	p, err := r.remake(r.env, params)
	return p, err == nil
}

// prepareOnce returns policy k of the pool, unless the interrupted training prepared
// it. The outcome is the same. In a first generation its clips are drawn and told of,
// so that they need not wait for the rest; of a brief one the opening.
func (r *run) prepareOnce(ctx context.Context, k int, theta []float64, before []solved) (solved, error) {
	if s, ok, err := r.recallPrepared(poolID(k), theta); ok {
		return s, err
	}
	if len(r.before.Pool) > 0 {
		r.before = idrl.TrainState{} // of something else
	}
	s, err := r.prepare(ctx, k, theta, before)
	if errors.Is(err, ErrBroken) {
		r.savePrepared(idrl.Solved{Theta: slices.Clone(theta), Broken: true})
	}
	if err != nil || !r.job.First {
		return s, err
	}
	if r.shortFirst() { // it takes seconds, and is not worth keeping
		err := r.drawOne(&s.rollouts[0].clips[0])
		r.tell(s)
		return s, err
	}
	if err := r.drawAll(ctx, &s); err != nil {
		return solved{}, err
	}
	r.savePrepared(idrl.Solved{Theta: slices.Clone(theta), Params: s.policy.Params(), Mu: s.mu, Shown: s.shown()})
	return s, nil
}

func (r *run) recallPrepared(id idrl.PolicyID, theta []float64) (s solved, ok bool, err error) {
	next, ok := pop(&r.before.Pool, theta)
	switch {
	case !ok || r.remake == nil:
		return solved{}, false, nil
	case next.Broken:
		err = fmt.Errorf("in the interrupted training: %w", ErrBroken)
	default:
		p, ok := r.remade(next.Params)
		if !ok || len(next.Shown) == 0 || len(next.Mu) != len(theta) {
			return solved{}, false, nil
		}
		s = remembered(id, p, next)
		r.tell(s)
	}
	r.now.Pool = append(r.now.Pool, next)
	return s, true, err
}

// pop returns the first of the list and takes it away, if it was for weights theta.
func pop(list *[]idrl.Solved, theta []float64) (idrl.Solved, bool) {
	if len(*list) == 0 || !slices.Equal((*list)[0].Theta, theta) {
		return idrl.Solved{}, false
	}
	next := (*list)[0]
	*list = (*list)[1:]
	return next, true
}

func (r *run) saveSolved(s idrl.Solved) {
	r.now.Solved, r.now.Search = append(r.now.Solved, s), nil
	r.save()
}

func (r *run) savePrepared(s idrl.Solved) {
	if r.job.First {
		r.now.Pool = append(r.now.Pool, s)
		r.save()
	}
}

func (r *run) saveSearch(state []byte) {
	r.now.Search = state
	r.save()
}

func (r *run) save() {
	if r.job.Save != nil && r.remake != nil {
		r.job.Save(r.now)
	}
}
