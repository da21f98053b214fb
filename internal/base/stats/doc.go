// Package stats has the few statistics that several rooms need: the interval of a share, a
// percentile interval of draws, and the median.
package stats
