// Package train is the room that turns a posterior into a generation.
//
// A posterior and the environment of a session enter; a generation leaves, one message:
// candidate policies, their clips, and questions about them (trainer). Package jobs carries
// such work to worker processes that share the processors, and training is both ends of it:
// the server's trainer, and the handler in a worker.
//
// It never changes a session: a session adopts a generation as a whole or leaves it. The same
// posterior and seed give the same generation.
package train
