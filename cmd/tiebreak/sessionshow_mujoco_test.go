//go:build mujoco

package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/idrl"
)

// A session on a robot keeps the scales of its features' prior.
func TestSessionShowsItsPriorScales(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	mustCLI(t, "session", "--data", data, "--env", "reacher", "--title", "t")
	out := mustCLI(t, "session", "show", "--data", data)
	var spec idrl.SessionSpec
	must.Do(t, json.Unmarshal([]byte(out), &spec))
	env := must.Get(mujoco.NewTask(mujoco.ReacherID, mujoco.Options{}))(t)
	if want := env.Spec(); !slices.Equal(spec.PriorScale, want.PriorScale) || !slices.Equal(spec.Features, want.FeatureNames) {
		t.Errorf("scales %v of %q, want %v of %q", spec.PriorScale, spec.Features, want.PriorScale, want.FeatureNames)
	}
	if !strings.Contains(out, `"PriorScale": [`) {
		t.Errorf("session show writes\n%s", out)
	}
}

// A session records the engine of its robot.
func TestSessionShowsItsEngine(t *testing.T) {
	t.Parallel()
	list := must.Get(environments(own{}))(t)
	if got, want := list.Engine("ant"), "MuJoCo "+mujoco.Version(); got != want || list.Engine("driver") != "" {
		t.Errorf("the ant has engine %q, want %q; the driver %q", got, want, list.Engine("driver"))
	}
	data := t.TempDir()
	mustCLI(t, "session", "--data", data, "--env", "reacher", "--title", "t")
	if out := mustCLI(t, "session", "show", "--data", data); !strings.Contains(out, `"Engines": null`) {
		t.Errorf("a session without clips shows\n%s", out)
	}
}
