// Package insight says how well a session's posterior has predicted answers, how the
// posterior became what it is, what the reward likes, and how labelling goes: what a researcher looks at to decide
// whether to believe the result. All of it is a function of the answers that count now and of
// nothing else, so that it is right again after an answer is undone, or those of a person are left
// out or turned.
// Formulas: docs/methods.md, section 2.8.
package insight
