//go:build mujoco && cgo

package engine

// Live returns how many models and simulations exist.
func Live() int { return int(live.Load()) }
