package behaviour_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/behaviour"
	"tiebreak/internal/plan/sac"
	"tiebreak/internal/plan/solver"

	"github.com/google/go-cmp/cmp"
)

// policies returns one policy of each class for the point mass, in the order of classes.
func policies(t *testing.T) (env idrl.Environment, ps []idrl.Policy) {
	t.Helper()
	env = pointmass.New(pointmass.Config{})
	spec := env.Spec()
	linear := must.Get(solver.NewLinear(spec, slices.Repeat([]float64{0.3}, spec.ObsDim*spec.Actions.Dim())))(t)
	gait := must.Get(solver.NewGait(spec, []float64{0.5, 0.1, 0.6, 0.2, 0, 0.3, 0.1, 2}))(t)
	agent := must.Get(sac.New(sac.Config{Settings: sac.Live(), Env: env, Reward: sac.Linear(make([]float64, spec.FeatureDim())), Seed: 1}))(t)
	return env, []idrl.Policy{linear, gait, agent.Policy(true)}
}

// actAt is the action of a policy as an episode asks for it.
func actAt(p idrl.Policy, obs []float64, t int) float64 {
	dst, stream := make(idrl.Action, 1), rng.New(1, "act", uint64(t))
	if timed, ok := p.(idrl.Timed); ok {
		return timed.ActAt(dst, obs, t, stream)[0]
	}
	return p.Act(dst, obs, stream)[0]
}

// TestEveryClass: a behaviour does what the policy in it does, and is made again from its
// numbers.
func TestEveryClass(t *testing.T) {
	env, ps := policies(t)
	classes := []behaviour.Class{behaviour.Linear, behaviour.Gait, behaviour.Network}
	for k, own := range ps {
		params := classes[k].Params(own.Params())
		made, err := behaviour.Remake(env, params)
		if err != nil {
			t.Fatalf("%v: %v", classes[k], err)
		}
		again, err := behaviour.New(env.Spec(), slices.Clone(made.Params()))
		if err != nil {
			t.Fatalf("%v: %v", classes[k], err)
		}
		if diff := cmp.Diff(params, again.Params()); diff != "" {
			t.Errorf("%v: other parameters:\n%s", classes[k], diff)
		}
		if again.Class() != classes[k] || params[0] != float64(k+1) {
			t.Errorf("class %v, want %v with the number %d", again.Class(), classes[k], k+1)
		}
		if diff := cmp.Diff(own.Params(), again.Own().Params()); diff != "" {
			t.Errorf("%v: other parameters within:\n%s", classes[k], diff)
		}
		for step := range 20 {
			obs := []float64{float64(step)/10 - 1, 0.3, 1}
			want := actAt(own, obs, step)
			if got := actAt(again, obs, step); got != want || actAt(made, obs, step) != want {
				t.Errorf("%v, step %d: action %v, want %v", classes[k], step, got, want)
			}
		}
		for j, class := range classes {
			if got, ok := class.Own(params); ok != (j == k) || ok && !slices.Equal(got, own.Params()) {
				t.Errorf("%v of a %v: %v, %t", class, classes[k], got, ok)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	env, ps := policies(t)
	for name, params := range map[string][]float64{
		"none":                        nil,
		"class 0":                     {0, 1, 2, 3},
		"a class of a later program":  {99, 1},
		"half a class":                {1.5, 1},
		"NaN":                         {math.NaN(), 1},
		"a huge class":                {1e300, 1},
		"a gait that is none":         {2, 1},
		"a linear policy for a gait":  behaviour.Gait.Params(ps[0].Params()),
		"a network that is none":      {3, 1, 0},
		"a network for a linear one":  behaviour.Linear.Params(ps[2].Params()),
		"a linear policy without any": {1},
	} {
		if p, err := behaviour.Remake(env, params); p != nil || idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: %v and error %v, want one of kind Invalid", name, p, err)
		}
	}
	if _, ok := behaviour.Gait.Own(nil); ok {
		t.Error("no numbers are a gait")
	}
}

// noting is a solver that notes its warm starts and returns a policy or an error.
type noting struct {
	warm   [][]float64
	policy idrl.Policy
	err    error
}

func (n *noting) Solve(_ context.Context, task idrl.SolveTask, _ *rand.Rand) (idrl.Policy, error) {
	n.warm = task.Warm
	return n.policy, n.err
}

func TestSolverOfOneClass(t *testing.T) {
	env, ps := policies(t)
	var warm [][]float64
	for k, p := range ps {
		warm = append(warm, behaviour.Class(k+1).Params(p.Params()))
	}
	inner := &noting{policy: ps[1]}
	s := behaviour.Solver{Class: behaviour.Gait, Solver: inner}
	p := must.Get(s.Solve(t.Context(), idrl.SolveTask{Env: env, Warm: warm}, nil))(t)
	if diff := cmp.Diff(warm[1], p.Params()); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]float64{ps[1].Params()}, inner.warm); diff != "" {
		t.Errorf("warm starts (-want +got):\n%s", diff)
	}
	inner.err = errors.New("no")
	if p, err := s.Solve(t.Context(), idrl.SolveTask{Env: env}, nil); p != nil || !errors.Is(err, inner.err) {
		t.Errorf("%v and error %v, want that of the solver", p, err)
	}
}

func TestNames(t *testing.T) {
	for class, want := range map[behaviour.Class]string{1: "linear policy", 2: "gait", 3: "network", 7: "unknown class"} {
		if got := class.String(); got != want {
			t.Errorf("class %d is %q, want %q", int(class), got, want)
		}
	}
}
