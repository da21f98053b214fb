// Package storetest makes large databases for benchmarks, and is another program at a database.
package storetest
