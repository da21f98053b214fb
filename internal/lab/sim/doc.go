// Package sim holds what only benchmarks, simulated annotators and tests may know: true
// rewards, and experts that answer by them.
package sim
