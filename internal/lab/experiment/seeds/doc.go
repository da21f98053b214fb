// Package seeds has the runs of experiments computed by workers: the runs of one seed are a job.
package seeds
