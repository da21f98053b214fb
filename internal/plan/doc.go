// Package plan is the room of policies for a reward.
//
// A reward function and an environment enter; a policy leaves: exact for tabular environments,
// by projected BFGS for action sequences, by CMA-ES for gaits (cmaes, solver), by soft
// actor-critic for networks (sac). Package behaviour gives linear policies, gaits and networks
// one form, from whose numbers they can be made again.
//
// It never learns from answers, and does not depend on the source of a reward. Long searches
// report progress, can be stopped, and continue from a checkpoint.
package plan
