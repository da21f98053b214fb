// Package recordings takes in trajectories of other simulators, so that people compare them: it
// reads a folder of arrays and of pictures, videos or scenes (docs/rollouts.md), keeps it in a
// form of its own, and gives an environment whose policies have acted already.
package recordings
