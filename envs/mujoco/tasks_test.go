//go:build mujoco

package mujoco_test

import (
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/envtest"
	"tiebreak/envs/mujoco"
	"tiebreak/internal/idrl"
)

// newTask returns a task that cannot fail.
func newTask(t testing.TB, id string, o mujoco.Options) *mujoco.Env {
	t.Helper()
	e := must.Get(mujoco.NewTask(id, o))(t)
	return e
}

// TestTasksKeepTheContract plays episodes that are hardly longer than a clip:
// only how many steps follow is lost by that.
func TestTasksKeepTheContract(t *testing.T) {
	check := func(name, id string, o mujoco.Options) {
		t.Run(name, func(t *testing.T) {
			envtest.Run(t, func() idrl.Environment {
				e := newTask(t, id, o)
				e.Shorten(min(e.Spec().Horizon, e.Spec().ClipSteps+10))
				return e
			})
		})
	}
	for _, id := range mujoco.Tasks() {
		check(id, id, mujoco.Options{})
	}
	check("classic", mujoco.Walker2dID, mujoco.Options{Classic: true})
	check("ends", mujoco.HopperID, mujoco.Options{Ends: true})
}
