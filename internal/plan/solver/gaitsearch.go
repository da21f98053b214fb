package solver

import (
	"context"
	"fmt"
	"slices"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/idrl"
)

// A GaitSearch is a search among gaits that is run round by round. Its weights θ may change from
// one round to the next, and it can be kept between them.
type GaitSearch interface {
	// Run runs n rounds for the weights theta, length d. After an error, which is that of ctx, the
	// search must be continued from its last Encode.
	Run(ctx context.Context, theta []float64, n int) error

	Done() int                               // rounds so far
	Spent() int                              // environment steps so far
	Best(theta []float64) (k Known, ok bool) // of the judged gaits; ok is false if the simulation broke down under all
	Present() []float64                      // parameters of the gait from which the next round continues; not to be changed
	Encode() []byte                          // the state for Continue

	state() *course
}

// A course has the parts that all searches among gaits share: the judged gaits, the environments,
// and the number of rounds.
type course struct {
	judge  judge
	ground *ground
	done   int
}

func (c *course) state() *course { return c }

// Done returns how many rounds have been run.
func (c *course) Done() int { return c.done }

// Spent returns the environment steps so far.
func (c *course) Spent() int { return c.ground.spent }

// Best returns the best of the judged gaits under theta. ok is false if the simulation broke
// down under all.
func (c *course) Best(theta []float64) (k Known, ok bool) { return c.judge.best(theta) }

// A place has the environments and settings with which a search runs its rounds.
type place struct {
	env     idrl.Environment
	workers int
	newEnv  func() idrl.Environment
	judging Judging
}

func (p place) course(seed uint64) course {
	return course{judge: judge{Judging: p.judging}, ground: newGround(p.env, p.workers, p.newEnv, seed)}
}

// begin returns the course of a search that has run no round, after a check of the task.
func (p place) begin(task idrl.SolveTask, seed uint64) (course, error) {
	if err := checkWeights(task); err != nil {
		return course{}, err
	}
	for i, params := range task.Warm {
		if _, err := NewGait(task.Env.Spec(), params); err != nil {
			return course{}, fmt.Errorf("warm start %d: %w", i+1, err)
		}
	}
	return p.course(seed), nil
}

// kept has the parts of a state that all searches share.
type kept struct {
	settings    string
	seed        uint64
	spent, done int
	known       []Known
}

func (c *course) kept(settings string) kept {
	return kept{settings, c.ground.seed, c.ground.spent, c.done, c.judge.known}
}

// resume returns the course of a search from its state. It returns an error of kind Invalid if the
// settings are those of another search.
func (p place) resume(k kept, settings string) (course, error) {
	if k.settings != settings || k.done < 0 {
		return course{}, idrl.Errorf(idrl.Invalid, "the state is of another search among gaits")
	}
	c := p.course(k.seed)
	c.judge.known, c.ground.spent, c.done = k.known, k.spent, k.done
	return c, checkKnown(c.ground.spec, p.judging, k.known)
}

// decode is the inverse of encode.
func decode[T any](state []byte) (T, error) {
	s, err := pack.Decode[T](state)
	if err != nil {
		return s, idrl.Errorf(idrl.Invalid, "the state of a search among gaits: %v", err)
	}
	return s, nil
}

// A bound ends a solve: no round begins after that many rounds, or that many environment steps; 0
// steps mean no bound of steps.
type bound struct{ rounds, steps int }

// solveGait solves a task by a search, round by round, and returns the best gait. It continues from
// task.Resume if that is a state of the same search for the same weights and seed.
func solveGait[S GaitSearch](ctx context.Context, task idrl.SolveTask, seed uint64, most bound, resume func(idrl.Environment, []byte) (S, error), begin func(context.Context, idrl.SolveTask, uint64) (S, error)) (idrl.Policy, error) {
	v, err := resume(task.Env, solveOf(task.Theta, task.Resume))
	if err != nil || v.state().ground.seed != seed {
		if v, err = begin(ctx, task, seed); err != nil {
			return nil, err
		}
	}
	for v.Done() < most.rounds && (most.steps == 0 || v.Spent() < most.steps) {
		if err := v.Run(ctx, task.Theta, 1); err != nil {
			return nil, err
		}
		if task.Save != nil {
			task.Save(saveSolve(task.Theta, v.Encode()))
		}
	}
	spec := task.Env.Spec()
	best, ok := v.Best(task.Theta)
	if !ok {
		return nil, errNoGait(spec)
	}
	return NewGait(spec, best.Params)
}

// encode returns the bytes of a state, which cannot fail for these states.
func encode[T any](state *T) []byte {
	b, err := pack.Encode(state)
	if err != nil {
		panic("solver: " + err.Error())
	}
	return b
}

func checkKnown(spec idrl.EnvSpec, j Judging, known []Known) error {
	for _, k := range known {
		if _, err := NewGait(spec, k.Params); err != nil {
			return err
		}
		if len(k.Mus) != j.Starts || slices.ContainsFunc(k.Mus, func(mu []float64) bool { return len(mu) != spec.FeatureDim() }) {
			return idrl.Errorf(idrl.Invalid, "the state of a search among gaits has feature sums of another environment")
		}
	}
	return nil
}

// A solveState is the state of a search for fixed weights.
type solveState struct {
	Theta []float64
	State []byte
}

func saveSolve(theta []float64, state []byte) []byte { return encode(&solveState{theta, state}) }

// solveOf returns the state of a search that was saved for theta, nil for others.
func solveOf(theta []float64, b []byte) []byte {
	s, err := pack.Decode[solveState](b)
	if err != nil || !slices.Equal(s.Theta, theta) {
		return nil
	}
	return s.State
}
