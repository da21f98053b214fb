// Package pointmass is a small environment for tests: continuous actions, a
// random first state, a solid scene, and a simulation that may break down.
package pointmass
