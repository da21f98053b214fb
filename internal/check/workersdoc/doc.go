// Package workersdoc tests docs/examples/workers: how Slurm and Kubernetes start workers.
package workersdoc
