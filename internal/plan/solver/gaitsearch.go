package solver

import (
	"context"
	"slices"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/idrl"
)

// A gaitSearch is a search among gaits that runs in pieces and can be stored between them.
type gaitSearch interface {
	Run(ctx context.Context, theta []float64, n int) error
	Encode() []byte
	Best(theta []float64) (k Known, ok bool)
}

// solveGait runs a search in pieces while goesOn says so, and returns the best gait.
func solveGait(ctx context.Context, task idrl.SolveTask, v gaitSearch, g *ground, goesOn func() bool) (idrl.Policy, error) {
	for goesOn() {
		if err := v.Run(ctx, task.Theta, 1); err != nil {
			return nil, err
		}
		if task.Save != nil {
			task.Save(saveSolve(task.Theta, v.Encode()))
		}
	}
	best, ok := v.Best(task.Theta)
	if !ok {
		return nil, errNoGait(g.spec)
	}
	return NewGait(g.spec, best.Params)
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
