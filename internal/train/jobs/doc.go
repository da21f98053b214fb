// Package jobs does long work, such as training, in worker processes of low
// priority, so that it neither slows nor endangers labelling. A job is a stream: a
// payload goes in; progress, artefacts, checkpoints and the end come out. A store records
// the jobs that wait and those that run, with attempt and progress.
package jobs
