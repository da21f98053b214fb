// Package misfit tests, by answers to comparisons alone, whether they follow something that the
// features of the clips do not tell.
//
// It compares two models on one list of answers: that of the session, and the same with a value of
// its own for each clip beside what its features tell. Both predict each answer before they learn
// from it.
package misfit
