// Package training is training as workers do it: the environment and the trainer of a
// session with their settings for live use, the handler of training jobs, and the
// trainer of the server, which has workers do them.
package training
