//go:build mujoco

package main

import "testing"

func TestKillUnderGaitsOfARobot(t *testing.T) {
	killUnderGaits(t, gaitSpec("half-cheetah"), 6, 17)
}
