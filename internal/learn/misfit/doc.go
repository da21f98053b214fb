// Package misfit tests, from answers to comparisons alone, whether people judge by something that
// is not in the features of the clips.
//
// It compares two models on one list of answers: that of the session, and the same model with an
// additional value for each clip. Both predict each answer before they learn from it.
package misfit
