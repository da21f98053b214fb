// Package experiment reproduces the paper's experiments in small environments:
// the project's own beliefs, acquisition functions and solvers, with a simulated
// expert in place of people and no server. It draws learning curves of paired
// methods.
package experiment
