// Package engine runs MuJoCo: it loads models and steps simulations. The library
// is looked for and opened when it is first needed (MUJOCO_PATH, the system's
// package, the one inside the Python package mujoco), so that the program runs
// without it; neither its headers nor one version of it are needed to build. A
// program that was built without cgo has the same package, in which nothing can be
// loaded.
//
// Slices of a Data and a Model are views of the engine's memory, without copies.
// They are valid as long as the value that they came from is reachable: code that
// keeps a slice must keep that value too (runtime.KeepAlive).
package engine
