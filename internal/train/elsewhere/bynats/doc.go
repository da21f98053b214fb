// Package bynats carries messages between servers and workers on other machines by NATS with
// JetStream (nats.io), 2.11 or newer.
//
// What is told goes by plain NATS. What is sent goes through the stream TIEBREAK, which keeps it for ten minutes, so
// that a receiver that was cut off goes on where it was. Blobs are chunks in the stream TIEBREAK_BLOBS, under their
// SHA-256. Subjects begin with "tiebreak.".
//
// Nothing here is trusted to keep: JetStream acknowledges what is not yet on disk, and Jepsen (jepsen.io) has found
// lost messages and replicas that differ. So a receiver itself checks order and repetition, a blob is checked by its
// hash, and servers make streams that are gone anew.
//
// NATS decides the age of messages, by the clock of its servers. The clocks of the machines of
// Tiebreak decide nothing.
package bynats
