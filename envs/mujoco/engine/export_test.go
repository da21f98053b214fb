//go:build mujoco

package engine

// Live returns how many models and simulations exist.
func Live() int { return int(live.Load()) }

// SelfCheck checks the opened library again.
func SelfCheck() error { return selfCheck() }
