package solver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Tabular solves a tabular environment exactly: by modified policy iteration
// (docs/methods.md, section 5 compares methods), and then by exact policy
// iteration, so that the result is optimal to rounding. The
// value of a state is the infinite-horizon discounted return from it, where a
// step pays the reward of the state entered. Among equally good actions the one
// with the lowest index is taken.
//
// It draws nothing, and ignores warm starts and restarts: there is one optimum.
type Tabular struct {
	// For is the result of Prepare for an environment that is solved many times; nil prepares in
	// every call.
	For *Prepared
}

var _ idrl.Solver = Tabular{}

// Prepared holds the dynamics and features of a tabular environment. It is
// immutable.
type Prepared struct {
	model *model
	phi   *mat.Dense
}

// Prepare returns the dynamics and features of env.
func Prepare(env idrl.Tabular) *Prepared {
	m := newModel(env)
	return &Prepared{m, m.features(env)}
}

// Mu is TabularMu for a prepared environment that starts in the states of start.
func (p *Prepared) Mu(start, actions []float64) []float64 {
	dst := make([]float64, p.phi.RawMatrix().Cols)
	if err := p.model.mu(dst, p.phi, start, indices(actions)); err != nil {
		panic(fmt.Sprintf("solver: feature expectation: %v", err))
	}
	return dst
}

// sweeps of evaluation between two improvements.
const sweeps = 30

// Solve returns a *TabularPolicy. It returns an error of kind Invalid if the
// environment is not tabular, if its discount is not below 1, or if Theta has
// the wrong length.
func (t Tabular) Solve(ctx context.Context, task idrl.SolveTask, _ *rand.Rand) (idrl.Policy, error) {
	env, ok := task.Env.(idrl.Tabular)
	if !ok {
		return nil, idrl.Errorf(idrl.Invalid, "environment %q is not tabular", task.Env.Spec().ID)
	}
	if err := checkTheta(task); err != nil {
		return nil, err
	}
	if g := env.Spec().Discount; !(g >= 0 && g < 1) {
		return nil, idrl.Errorf(idrl.Invalid, "the tabular solver needs a discount in [0, 1); %s has %v", env.Spec().ID, g)
	}
	made := t.For
	if made == nil {
		made = Prepare(env)
	}
	m, phi := made.model, made.phi
	p := &planner{
		model: m, reward: make([]float64, m.n), value: make([]float64, m.n),
		action: make([]int, m.n), qs: make([]float64, m.actions),
	}
	mat.NewVecDense(m.n, p.reward).MulVec(phi, mat.NewVecDense(len(task.Theta), task.Theta))
	if err := p.approximate(ctx); err != nil {
		return nil, err
	}
	if err := p.finish(ctx); err != nil {
		return nil, err
	}
	return &TabularPolicy{p.policy()}, nil
}

func checkTheta(task idrl.SolveTask) error {
	if d := task.Env.Spec().FeatureDim(); len(task.Theta) != d {
		return idrl.Errorf(idrl.Invalid, "%s has %d features; got %d reward weights", task.Env.Spec().ID, d, len(task.Theta))
	}
	return nil
}

// A planner improves a policy of a model under one reward.
type planner struct {
	*model
	reward []float64 // of entering a state, length n
	value  []float64 // of the present policy or an approximation to it, length n
	action []int     // of each state: the present policy
	qs     []float64 // workspace of best, one an action
}

// tol is the smallest difference of values that counts.
func (p *planner) tol() float64 { return 1e-10 * (1 + floats.Norm(p.value, 1)/float64(p.n)) }

// q returns the value of taking a in s and following p.value afterwards.
func (p *planner) q(s, a int) float64 {
	sum := 0.0
	to, prob := p.successors(s, a)
	for i, next := range to {
		sum += prob[i] * (p.reward[next] + p.discount*p.value[next])
	}
	return sum
}

// best returns the first of the actions that are best in s to within tol.
func (p *planner) best(s int, tol float64) (a int, q float64) {
	for a := range p.qs {
		p.qs[a] = p.q(s, a)
	}
	q = floats.Max(p.qs)
	for p.qs[a] < q-tol {
		a++
	}
	return a, q
}

// approximate runs modified policy iteration until an improvement changes no action, or the values
// have the right differences to within tol (the span of their last change shows it). finish
// corrects the remaining errors.
func (p *planner) approximate(ctx context.Context) error {
	next := make([]float64, p.n)
	before := make([]int, p.n)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		copy(before, p.action)
		for s := range next {
			p.action[s], next[s] = p.best(s, 0)
		}
		floats.Sub(p.value, next)
		span := floats.Max(p.value) - floats.Min(p.value)
		copy(p.value, next)
		if span*p.discount <= 1e3*p.tol() || slices.Equal(before, p.action) {
			return nil
		}
		for range sweeps {
			for s := range p.value {
				p.value[s] = p.q(s, p.action[s])
			}
		}
	}
}

// finish alternates exact evaluation and improvement until no action is better.
func (p *planner) finish(ctx context.Context) error {
	for improved := true; improved; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.evaluate(p.value, p.action, p.reward); err != nil {
			return err
		}
		improved = false
		for s := range p.action {
			if a, q := p.best(s, 0); q > p.q(s, p.action[s])+p.tol() {
				p.action[s], improved = a, true
			}
		}
	}
	return nil
}

// policy returns the first best action of every state under the final values.
func (p *planner) policy() []float64 {
	out := make([]float64, p.n)
	for s := range out {
		a, _ := p.best(s, p.tol())
		out[s] = float64(a)
	}
	return out
}
