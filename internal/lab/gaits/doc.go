// Package gaits trains the policies that package mujoco builds on.
package gaits
