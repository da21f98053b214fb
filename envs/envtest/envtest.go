package envtest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// Run tests an environment against the contract of idrl.Environment and of the
// optional interfaces that it implements. newEnv returns a new instance, always
// an equal one.
func Run(t *testing.T, newEnv func() idrl.Environment) {
	t.Helper()
	t.Run("spec", func(t *testing.T) { testSpec(t, newEnv) })
	t.Run("episode", func(t *testing.T) { testEpisode(t, newEnv) })
	t.Run("function of the stream", func(t *testing.T) { testStream(t, newEnv) })
	t.Run("panics", func(t *testing.T) { testPanics(t, newEnv) })
	if _, ok := newEnv().(idrl.Snapshotter); ok {
		t.Run("snapshot", func(t *testing.T) { testSnapshot(t, newEnv) })
	}
	if _, ok := newEnv().(drawing.Drawer); ok {
		t.Run("draw", func(t *testing.T) { testDraw(t, newEnv) })
	}
	if _, ok := newEnv().(drawing.Substepper); ok {
		t.Run("substeps", func(t *testing.T) { testSubsteps(t, newEnv) })
	}
	if _, ok := newEnv().(idrl.Faller); ok {
		t.Run("faller", func(t *testing.T) { testFaller(t, newEnv) })
	}
	if _, ok := newEnv().(drawing.Namer); ok {
		t.Run("namer", func(t *testing.T) { testNamer(t, newEnv) })
	}
	if _, ok := newEnv().(drawing.Guided); ok {
		t.Run("guide", func(t *testing.T) { testGuide(t, newEnv) })
	}
	if env, ok := newEnv().(idrl.Tabular); ok {
		t.Run("tabular", func(t *testing.T) { testTabular(t, env) })
	}
	if env, ok := newEnv().(idrl.Differentiable); ok {
		t.Run("differentiable", func(t *testing.T) { testDifferentiable(t, env) })
	}
	if env, ok := newEnv().(interface{ Kernel(*mat.SymDense) }); ok {
		t.Run("kernel", func(t *testing.T) { testKernel(t, env, newEnv().Spec().FeatureDim()) })
	}
}

func testSpec(t *testing.T, newEnv func() idrl.Environment) {
	s := newEnv().Spec()
	for _, test := range []struct {
		name string
		ok   bool
	}{
		{"ID is set", s.ID != ""},
		{"ObsDim is positive", s.ObsDim > 0},
		{"there are features", s.FeatureDim() > 0},
		{"each has a scale of its prior, or none", s.PriorScale == nil || len(s.PriorScale) == s.FeatureDim()},
		{"the scales are positive", !slices.ContainsFunc(s.PriorScale, func(v float64) bool { return !(v > 0 && v <= math.MaxFloat64) })},
		{"StepSeconds is positive", s.StepSeconds > 0 && !math.IsInf(s.StepSeconds, 1)},
		{"Horizon is positive", s.Horizon > 0},
		{"Discount is in (0, 1]", s.Discount > 0 && s.Discount <= 1},
		{"a clip lies within an episode", s.ClipSteps > 0 && s.ClipSteps <= s.Horizon},
		{"Playback is positive", s.Playback > 0 && !math.IsInf(s.Playback, 1)},
		{"StillLabel is set", s.StillLabel != ""},
		{"actions are either discrete or a box", (s.Actions.Num > 0) != (len(s.Actions.Low) > 0)},
		{"bounds have one length", len(s.Actions.Low) == len(s.Actions.High)},
		{"Hold divides the horizon", s.Actions.Hold >= 0 && s.Horizon%max(1, s.Actions.Hold) == 0},
		{"LiveSteps allow one iteration of the search", s.Search.LiveSteps == 0 || s.Search.LiveSteps >= iterationSteps(s)},
	} {
		if !test.ok {
			t.Errorf("not true of the spec: %s", test.name)
		}
	}
	for i, low := range s.Actions.Low {
		if !(low < s.Actions.High[i]) {
			t.Errorf("action %d has bounds %v and %v", i, low, s.Actions.High[i])
		}
	}
	names := slices.Sorted(slices.Values(s.FeatureNames))
	if names[0] == "" || len(slices.Compact(names)) != s.FeatureDim() {
		t.Errorf("feature names %q are not unique or one is empty", s.FeatureNames)
	}
	env := newEnv()
	env.Reset(rng.New(1, "reset", 0))
	if after := env.Spec(); after.ID != s.ID || !slices.Equal(after.FeatureNames, s.FeatureNames) || after.Horizon != s.Horizon {
		t.Error("the spec changed after Reset")
	}
}

// iterationSteps returns the least number of steps of a random search in which a
// start is evaluated, moved once, and evaluated again, by an episode each.
func iterationSteps(s idrl.EnvSpec) int {
	return 2 * (max(1, s.Search.Directions) + 1) * s.Horizon
}

// randomAction draws an action uniformly.
func randomAction(s idrl.ActionSpec, stream *rand.Rand) idrl.Action {
	a := make(idrl.Action, s.Dim())
	if s.Num > 0 {
		a[0] = float64(stream.IntN(s.Num))
		return a
	}
	for i := range a {
		a[i] = s.Low[i] + (s.High[i]-s.Low[i])*stream.Float64()
	}
	return a
}

// record holds the time steps of an episode.
type record struct {
	kinds     []idrl.StepKind
	broken    []bool
	obs, phi  [][]float64
	snapshots [][]float64 // nil if the environment takes none; nil of a broken state
	actions   []idrl.Action
}

// rollout plays random actions of the stream (seed, n) until the episode ends,
// and calls visit, if it is not nil, in every state. A state in which the
// simulation has broken down is neither saved nor visited.
func rollout(t *testing.T, env idrl.Environment, seed, n uint64, visit func()) record {
	t.Helper()
	spec := env.Spec()
	act := rng.New(seed, "act", n)
	keeper, _ := env.(idrl.Snapshotter)
	var r record
	note := func(step idrl.TimeStep) {
		r.kinds, r.broken = append(r.kinds, step.Kind), append(r.broken, step.Broken)
		r.obs = append(r.obs, slices.Clone(step.Obs))
		r.phi = append(r.phi, slices.Clone(step.Phi))
		if keeper != nil {
			r.snapshots = append(r.snapshots, nil)
			if !step.Broken {
				r.snapshots[len(r.snapshots)-1] = keeper.Snapshot(nil)
			}
		}
		if visit != nil && !step.Broken {
			visit()
		}
	}
	choose := func([]float64) idrl.Action {
		if len(r.actions) > spec.Horizon {
			t.Fatalf("the episode is longer than the horizon, %d", spec.Horizon)
		}
		return randomAction(spec.Actions, act)
	}
	for a, step := range idrl.Episode(env, choose, rng.New(seed, "env", n)) {
		if step.Kind != idrl.First {
			r.actions = append(r.actions, a)
		}
		note(step)
	}
	return r
}

func testEpisode(t *testing.T, newEnv func() idrl.Environment) {
	env := newEnv()
	spec := env.Spec()
	for n := range uint64(5) {
		r := rollout(t, env, 1, n, nil)
		if r.kinds[0] != idrl.First || r.phi[0] != nil {
			t.Errorf("Reset returned kind %d with features %v, want First without", r.kinds[0], r.phi[0])
		}
		last := len(r.actions)
		early := r.kinds[last] == idrl.Truncated && last != spec.Horizon && !r.broken[last]
		if last > spec.Horizon || early {
			t.Errorf("an episode of %d steps ended with kind %d; the horizon is %d", last, r.kinds[last], spec.Horizon)
		}
		for i, obs := range r.obs {
			if r.broken[i] && r.kinds[i] != idrl.Truncated {
				t.Fatalf("step %d broke down and has kind %d, want Truncated", i, r.kinds[i])
			}
			if len(obs) != spec.ObsDim || !finite(obs) {
				t.Fatalf("observation %d is %v, want %d finite numbers", i, obs, spec.ObsDim)
			}
			if i == 0 {
				continue
			}
			if len(r.phi[i]) != spec.FeatureDim() || !finite(r.phi[i]) {
				t.Fatalf("features %d are %v, want %d finite numbers", i, r.phi[i], spec.FeatureDim())
			}
			if i < last && r.kinds[i] != idrl.Mid {
				t.Fatalf("step %d of %d has kind %d, want Mid", i, last, r.kinds[i])
			}
		}
	}
}

func testStream(t *testing.T, newEnv func() idrl.Environment) {
	used := newEnv()
	rollout(t, used, 2, 0, nil)
	a, b := rollout(t, newEnv(), 2, 1, nil), rollout(t, used, 2, 1, nil)
	if !same(a, b) {
		t.Error("a new environment and a used one differ under equal streams and actions")
	}
}

func testPanics(t *testing.T, newEnv func() idrl.Environment) {
	env := newEnv()
	spec := env.Spec()
	good := randomAction(spec.Actions, rng.New(3, "act", 0))
	bad := map[string]idrl.Action{"no numbers": {}, "one number too many": append(slices.Clone(good), 0)}
	nan, out := slices.Clone(good), slices.Clone(good)
	nan[0] = math.NaN()
	if spec.Actions.Num > 0 {
		out[0] = float64(spec.Actions.Num)
		bad["between two"] = idrl.Action{0.5}
	} else {
		out[0] = spec.Actions.High[0] + 1e-6
	}
	bad["not a number"], bad["out of bounds"] = nan, out
	for name, a := range bad {
		env.Reset(rng.New(3, "env", 0))
		if !panics(func() { env.Step(a) }) {
			t.Errorf("Step accepts an action with %s: %v", name, a)
		}
	}
	rollout(t, env, 3, 1, nil)
	if !panics(func() { env.Step(good) }) {
		t.Error("Step goes on after the end of the episode")
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

func finite(v []float64) bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

func same(a, b record) bool {
	return slices.Equal(a.kinds, b.kinds) && slices.Equal(a.broken, b.broken) &&
		slices.EqualFunc(a.obs, b.obs, slices.Equal[[]float64]) &&
		slices.EqualFunc(a.phi, b.phi, slices.Equal[[]float64]) &&
		slices.EqualFunc(a.snapshots, b.snapshots, slices.Equal[[]float64])
}
