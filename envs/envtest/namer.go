package envtest

import (
	"testing"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// testNamer: names of clips and stills fit, those of equal states are equal, and naming does not
// disturb the episodes that follow.
func testNamer(t *testing.T, newEnv func() idrl.Environment) {
	env := newEnv()
	keeper, ok := env.(idrl.Snapshotter)
	if !ok {
		t.Fatal("an environment that names clips must save its states")
	}
	var states [][]float64
	for n := range uint64(3) {
		r := rollout(t, env, 10, n, nil)
		for i, s := range r.snapshots {
			if !r.broken[i] {
				states = append(states, s)
			}
		}
		if len(states) < 2 {
			continue
		}
		clip := states[max(0, len(states)-1-env.Spec().ClipSteps):]
		checkName(t, newEnv, env, clip)
		checkName(t, newEnv, env, clip[:1])
		states = states[:0]
	}
	env.Reset(rng.New(10, "env", 9))
	before := keeper.Snapshot(nil)
	env.(drawing.Namer).Name([][]float64{before, before})
	if !same(rollout(t, newEnv(), 11, 0, nil), rollout(t, env, 11, 0, nil)) {
		t.Error("an episode after Name differs from one in a new environment")
	}
}

// checkName compares the names that used, which has played, and a new environment give to a clip.
func checkName(t *testing.T, newEnv func() idrl.Environment, used idrl.Environment, clip [][]float64) {
	t.Helper()
	got := used.(drawing.Namer).Name(clip)
	if len(got.Name) > drawing.MaxHappening || got.Useless && got.Name == "" {
		t.Errorf("a clip of %d states is called %q, useless %v; a name has at most %d bytes, and what is useless has one", len(clip), got.Name, got.Useless, drawing.MaxHappening)
	}
	if again := newEnv().(drawing.Namer).Name(clip); again != got {
		t.Errorf("a clip of %d states is called %v, and by a new environment %v", len(clip), got, again)
	}
}
