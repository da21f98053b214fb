package librarian_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/envtest/pointmass"
	"tiebreak/envs/mujoco"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/librarian"
	"tiebreak/internal/plan/sac"
	"tiebreak/internal/plan/solver"
)

// TestHoldTime: a network whose time is held acts at all times as it does at that time.
func TestHoldTime(t *testing.T) {
	env := pointmass.New(pointmass.Config{})
	spec := env.Spec()
	settings := sac.Live()
	settings.Features = true
	agent := must.Get(sac.New(sac.Config{Settings: settings, Env: env, Reward: sac.Linear(make([]float64, spec.FeatureDim())), Seed: 1}))(t)
	policy := agent.Policy(false)
	own := librarian.HoldTime(policy.Params(), spec, 0.5)
	held := must.Get(sac.NewPolicy(spec, own))(t)
	obs := slices.Repeat([]float64{0.3}, spec.ObsDim)
	act := func(p *sac.Policy, at int) float64 {
		return p.ActAt(make(idrl.Action, spec.Actions.Dim()), obs, at, nil)[0]
	}
	want := act(policy, spec.Horizon/2)
	for _, at := range []int{0, spec.Horizon / 2, spec.Horizon - 1} {
		if got := act(held, at); math.Abs(got-want) > 1e-6 {
			t.Errorf("action %v after %d steps, want %v", got, at, want)
		}
	}
	if moved := act(policy, 0); math.Abs(moved-want) < 1e-4 {
		t.Errorf("the policy acts alike at all times (%v): this test tells nothing", moved)
	}
	if again := librarian.HoldTime(own, spec, 0.1); !slices.Equal(again, own) {
		t.Error("a policy that does not know the time has changed")
	}
}

// TestTurn: a gait of the ant that is turned by a quarter does in the turned world what it
// does in this one, and four quarters are none.
func TestTurn(t *testing.T) {
	actions, observations := mujoco.QuarterTurn()
	low, high := slices.Repeat([]float64{-1}, 8), slices.Repeat([]float64{1}, 8)
	spec := idrl.EnvSpec{ID: "ant", ObsDim: 27, StepSeconds: 0.05, Actions: idrl.ActionSpec{Low: low, High: high}}
	stream := rand.New(rand.NewPCG(1, 2))
	draw := func(n int, size float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = size * stream.NormFloat64()
		}
		return out
	}
	own := slices.Concat(draw(25, 0.1), []float64{2, 3, 4, 13, 14}, draw(40, 0.01), draw(5, 1), []float64{1, 2, 3, 4, 5})
	turned := librarian.Turn(own, actions, observations)
	gait := must.Get(solver.NewGait(spec, own))(t)
	other := must.Get(solver.NewGait(spec, turned))(t)
	seen := draw(27, 1) // by the turned gait
	before := make([]float64, 27)
	for k, o := range observations {
		before[k] = o.Sign * seen[o.From]
	}
	a, b := gait.ActAt(make(idrl.Action, 8), before, 7, nil), other.ActAt(make(idrl.Action, 8), seen, 7, nil)
	for i, o := range actions {
		if math.Abs(b[i]-o.Sign*a[o.From]) > 1e-12 {
			t.Errorf("action %d of the turned gait is %v, want %v", i, b[i], o.Sign*a[o.From])
		}
	}
	for range 3 {
		turned = librarian.Turn(turned, actions, observations)
	}
	for i := range own {
		if math.Abs(turned[i]-own[i]) > 1e-12 {
			t.Fatalf("after four quarters number %d is %v, was %v", i, turned[i], own[i])
		}
	}
}
