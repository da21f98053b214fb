// Package stats has the few statistics that several rooms need: the interval of a share, a
// percentile interval of draws, the bootstrap, the median, and a
// probability as people read it.
package stats
