// Package report turns the results of experiments into statistics, tables,
// plots and a page, and keeps finished runs so that an experiment can go on.
//
// The statistics follow docs/methods.md, section 6: methods are paired by seed,
// and the primary measure is the area under the regret curve. But for times, what
// the package writes is a function of the result: the same seeds give the same
// bytes.
package report
