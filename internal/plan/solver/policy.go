package solver

import (
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"
)

// A TabularPolicy takes one fixed action in each state.
type TabularPolicy struct {
	actions []float64 // by state, the index of an action
}

var _ idrl.Policy = (*TabularPolicy)(nil)

func newTabularPolicy(env idrl.Tabular, params []float64) (*TabularPolicy, error) {
	if len(params) != env.NumStates() {
		return nil, idrl.Errorf(idrl.Invalid, "a policy of %s has %d numbers, one a state; got %d", env.Spec().ID, env.NumStates(), len(params))
	}
	actions := env.Spec().Actions
	for s, a := range params {
		if !actions.Contains(idrl.Action{a}) {
			return nil, idrl.Errorf(idrl.Invalid, "state %d: %v is not one of the actions 0 to %d", s, a, actions.Num-1)
		}
	}
	return &TabularPolicy{slices.Clone(params)}, nil
}

// Act returns the action of the state whose index is obs[0]. It draws nothing.
func (p *TabularPolicy) Act(dst idrl.Action, obs []float64, _ *rand.Rand) idrl.Action {
	dst[0] = p.actions[int(obs[0])]
	return dst
}

// Params returns the action's index of each state.
func (p *TabularPolicy) Params() []float64 { return p.actions }

// An OpenLoop policy plays a fixed sequence of actions, each held for some
// steps. It reads the time from the last observation, which must be t/Horizon.
type OpenLoop struct {
	actions            []float64 // the k-th is actions[k·dim:(k+1)·dim]
	dim, hold, horizon int
}

var _ idrl.Policy = (*OpenLoop)(nil)

func newOpenLoop(spec idrl.EnvSpec, params []float64) (*OpenLoop, error) {
	dim := spec.Actions.Dim()
	if want := numActions(spec) * dim; len(params) != want {
		return nil, idrl.Errorf(idrl.Invalid, "a policy of %s has %d numbers; got %d", spec.ID, want, len(params))
	}
	for k := 0; k < len(params); k += dim {
		if a := params[k : k+dim]; !spec.Actions.Contains(a) {
			return nil, idrl.Errorf(idrl.Invalid, "%v is not an action of %s", a, spec.ID)
		}
	}
	return &OpenLoop{slices.Clone(params), dim, max(1, spec.Actions.Hold), spec.Horizon}, nil
}

// numActions returns the number of held actions in an episode.
func numActions(spec idrl.EnvSpec) int {
	hold := max(1, spec.Actions.Hold)
	return (spec.Horizon + hold - 1) / hold
}

// Act returns the action held at the time that obs tells. It draws nothing.
func (p *OpenLoop) Act(dst idrl.Action, obs []float64, _ *rand.Rand) idrl.Action {
	step := int(math.Round(obs[len(obs)-1] * float64(p.horizon)))
	k := min(step/p.hold*p.dim, len(p.actions)-p.dim)
	copy(dst, p.actions[k:k+p.dim])
	return dst
}

// Params returns the held actions in order.
func (p *OpenLoop) Params() []float64 { return p.actions }
