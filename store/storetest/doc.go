// Package storetest makes large databases for benchmarks.
package storetest
