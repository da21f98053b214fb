// Package store keeps sessions in SQLite. No SQL, no driver type, and no
// database error leaves it.
//
// One goroutine writes: it gathers the writes that are waiting into one
// transaction, each in a savepoint of its own, and answers them after the
// commit has reached the disk. Reads go through a pool of read-only
// connections and never wait for the writer.
package store
