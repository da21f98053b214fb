//go:build mujoco

package main

import "testing"

func TestKillUnderGaitsOfARobot(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("task test:long runs this; TestKillUnderGaits runs always")
	}
	killUnderGaits(t, gaitSpec("half-cheetah"), 6, 17)
}
