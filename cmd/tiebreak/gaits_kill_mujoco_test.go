//go:build mujoco

package main

import "testing"

func TestKillUnderGaitsOfARobot(t *testing.T) {
	t.Parallel()
	killUnderGaits(t, gaitSpec("half-cheetah"), 6, 17)
}
