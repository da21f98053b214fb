// Package mujoco holds the environments of the MuJoCo physics engine: the eight
// locomotion tasks and the two corridors of the paper, and models of a user's own.
//
// Observations, noise and frame skips follow OpenAI Gym (docs/mujoco.md,
// section 1) as the paper changes them: positions are left out and no episode
// ends early.
package mujoco
