// Package wire defines the messages of protocol tiebreak.v1: JSON objects over
// one websocket, each with its type in the field "t".
package wire
