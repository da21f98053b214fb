// Package jobstest is the contract of dispatchers and of stores of jobs, with
// implementations of both that need neither processes nor a disk.
package jobstest
