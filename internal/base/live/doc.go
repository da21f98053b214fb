// Package live tells watchers that something changed. Publishers never block; a
// watcher that falls behind misses events and reads the present state later.
package live
