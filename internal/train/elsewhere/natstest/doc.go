// Package natstest runs a cluster of three NATS servers, each in a process of its own, between which the network can be cut.
// For tests.
package natstest
