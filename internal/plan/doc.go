// Package plan is the room of policies for a reward.
//
// A reward function and an environment enter; a policy leaves: exact for tabular environments,
// by projected BFGS for action sequences, by CMA-ES for gaits (cmaes, solver), by soft
// actor-critic for networks (sac). Package behaviour has all of them in one form, made again from
// their numbers.
//
// It never learns from answers, and does not know where a reward comes from. Long searches
// report progress, can be stopped, and continue from a checkpoint.
package plan
