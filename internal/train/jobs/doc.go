// Package jobs does long work, such as training, in worker processes of low
// priority, so that it neither slows nor endangers labelling. A job is a stream: a
// payload goes in; progress, artefacts, checkpoints and the end come out. What waits
// and what is being worked on, by which attempt, and how far it is, stands in a store.
package jobs
