package librarian

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/behaviour"
	"tiebreak/internal/plan/solver"
)

// Gait is a search among gaits by an evolution strategy.
type Gait struct {
	Generations int
	Steps       int // of an episode; default 200
	Seed        uint64
}

func (w Gait) learn(ctx context.Context, b *Builder, s Skill) ([]float64, error) {
	e := solver.Evolve{
		Generations: w.Generations, Steps: cmp.Or(w.Steps, 200), First: 60, Judging: solver.Judging{Starts: 4, Steps: 500},
		Workers: b.Workers, NewEnv: func() idrl.Environment { return b.arena(s.Falls) },
	}
	p, err := e.Solve(ctx, b.task(s), stream("skill", w.Seed))
	if err != nil {
		return nil, err
	}
	return behaviour.Gait.Params(p.Params()), nil
}

// Feedback is a search for feedback on a gait that was learnt before. The best is kept by
// the mean less half of the standard deviation of the returns from twelve starts.
type Feedback struct {
	From       string
	Iterations int
	Sight      Observations
	Seed       uint64
}

func (w Feedback) learn(ctx context.Context, b *Builder, s Skill) ([]float64, error) {
	own, ok := behaviour.Gait.Own(b.learnt[w.From])
	if !ok {
		return nil, fmt.Errorf("there is no gait %q", w.From)
	}
	task := b.task(s)
	task.Env, task.Warm = w.seeing(task.Env), [][]float64{own}
	f := solver.Feedback{
		Steps: 400, Judging: solver.Judging{Starts: 12, Steps: 600},
		Workers: b.Workers, NewEnv: func() idrl.Environment { return w.seeing(b.arena(s.Falls)) },
	}
	search, err := f.Begin(ctx, task, w.Seed)
	if err != nil {
		return nil, err
	}
	if err := search.Run(ctx, task.Theta, w.Iterations); err != nil {
		return nil, err
	}
	best, ok := search.Best(task.Theta)
	if !ok {
		return nil, solver.ErrBroken
	}
	return behaviour.Gait.Params(best.Params), nil
}

// Observations are those that feedback may use: up to 12, ended by the first that repeats
// or falls; the zero value is all that the environment names.
type Observations [12]int

func (o Observations) list() (out []int) {
	for i, v := range o {
		if i > 0 && v <= o[i-1] {
			break
		}
		out = append(out, v)
	}
	if len(out) == 1 && out[0] == 0 {
		return nil
	}
	return out
}

// seeing returns env with the observations of w for feedback.
func (w Feedback) seeing(env idrl.Environment) idrl.Environment {
	if w.Sight.list() == nil {
		return env
	}
	return narrowed{env, w.Sight.list()}
}

type narrowed struct {
	idrl.Environment
	sight []int
}

func (n narrowed) Spec() idrl.EnvSpec {
	spec := n.Environment.Spec()
	spec.Gait.Feedback = n.sight
	return spec
}

// Turned is a gait of the ant that was learnt before, turned to the left by quarters: what
// goes forward goes to the left, backward, or to the right.
type Turned struct {
	From     string
	Quarters int
}

func (w Turned) learn(_ context.Context, b *Builder, _ Skill) ([]float64, error) {
	own, ok := behaviour.Gait.Own(b.learnt[w.From])
	if !ok {
		return nil, fmt.Errorf("there is no gait %q to turn", w.From)
	}
	actions, observations := mujoco.QuarterTurn()
	for range w.Quarters {
		own = turn(own, actions, observations)
	}
	return behaviour.Gait.Params(own), nil
}

// turn returns a gait, as solver.NewGait takes it, with other actions and observations.
func turn(own []float64, actions, observations []mujoco.Signed) []float64 {
	nu := len(actions)
	k := (len(own) - 1 - 3*nu) / (nu + 3) // observations
	waves, rest := own[1:][:3*nu], own[1+3*nu:]
	used, gains, mean, std := rest[:k], rest[k:][:k*nu], rest[k+k*nu:][:k], rest[2*k+k*nu:][:k]
	place := func(i int) int { return observations[int(used[i])].From }
	order := make([]int, k) // of the new observations
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(place(i), place(j)) })
	out := []float64{own[0]}
	for _, a := range actions {
		for _, v := range waves[3*a.From:][:3] {
			out = append(out, a.Sign*v)
		}
	}
	sign := func(i int) float64 { return observations[int(used[i])].Sign }
	for _, i := range order {
		out = append(out, float64(place(i)))
	}
	for _, a := range actions {
		for _, i := range order {
			out = append(out, a.Sign*sign(i)*gains[a.From*k+i])
		}
	}
	for _, i := range order {
		out = append(out, sign(i)*mean[i])
	}
	for _, i := range order {
		out = append(out, std[i])
	}
	return out
}
