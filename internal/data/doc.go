// Package data is the room of data sets that leave and of trajectories and labels that come
// in.
//
// Sessions leave as tables and files (export, bundle). Environments in programs of their own
// (outside), recordings, uploads (rollouts), labels that others have released (labels), arrays
// of NumPy and libraries of behaviours come in.
//
// All that comes from elsewhere is bounded before it is read, and refused with a sentence that
// says where and why. Nothing that is read is executed, and no file is written outside its
// folder.
package data
