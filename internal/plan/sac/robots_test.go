//go:build mujoco

package sac_test

import (
	"bytes"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/plan/sac"
)

// TestResumeRobots interrupts trainings of every robot within an episode and holds that
// they go on with the same bytes.
func TestResumeRobots(t *testing.T) {
	for _, id := range mujoco.Tasks() {
		t.Run(id, func(t *testing.T) {
			fresh := func() sac.Config {
				s := sac.Live()
				s.Hidden, s.Batch, s.Starts, s.Replay, s.Features = []int{16}, 16, 60, 500, true
				env := newTask(t, id)
				return sac.Config{Settings: s, Env: env, Reward: sac.Linear(sim.NewTask(env, nil).Theta), Seed: 5}
			}
			const steps = 160
			whole := newAgent(t, fresh())
			var states [][]byte
			for range steps / 20 {
				states = append(states, checkpoint(t, whole))
				run(t, whole, 20)
			}
			want := checkpoint(t, whole)
			for k, b := range states {
				a := must.Get(sac.Resume(fresh(), b))(t)
				run(t, a, steps-20*k)
				if !bytes.Equal(checkpoint(t, a), want) {
					t.Errorf("interrupted after step %d, the training ends in other bytes", 20*k)
				}
			}
		})
	}
}
