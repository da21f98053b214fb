// Package rollouts reads trajectories that other programs have made: as clips that people are asked
// about, each a policy by itself, and as raw steps from which learners learn.
package rollouts
