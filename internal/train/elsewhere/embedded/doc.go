// Package embedded runs a server of NATS with JetStream in the process of a Tiebreak server, for workers on
// other machines. It is apart from package bynats, so that programs that only connect are built without it.
//
// The names and public keys of workers enter. Each worker may publish and subscribe to what
// bynats.Permissions lists. Connections without a key are refused.
package embedded
