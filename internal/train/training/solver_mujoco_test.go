//go:build mujoco

package training

import (
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"
)

// A session whose solver is left to the program has gaits if it shows clips of a robot and
// its reward is one of features.
func TestSolverOfNewSessions(t *testing.T) {
	for _, c := range []struct {
		spec idrl.SessionSpec
		want string
	}{
		{idrl.SessionSpec{Env: "hopper"}, idrl.GaitSolver},
		{idrl.SessionSpec{Env: "swimmer-corridor", Kind: idrl.RateClip}, idrl.GaitSolver},
		{idrl.SessionSpec{Env: "hopper", Model: idrl.NetworkModel}, idrl.OwnSolver},
		{idrl.SessionSpec{Env: "hopper", Solver: idrl.OwnSolver}, idrl.OwnSolver},
		{idrl.SessionSpec{Env: "hopper", Solver: idrl.ActorCritic}, idrl.ActorCritic},
		{idrl.SessionSpec{Env: "driver"}, idrl.OwnSolver},
		{idrl.SessionSpec{Env: "gridworld"}, idrl.OwnSolver},
	} {
		spec := must.Get(Complete(envs.Catalogue(), settings.Complete(c.spec)))(t)
		if spec.Solver != c.want {
			t.Errorf("%s with the model %q, asked by %s: solver %q, want %q", spec.Env, spec.Model, spec.Kind, spec.Solver, c.want)
		}
	}
}
