// Package driver is the Driver environment of the paper: a car on a road of
// three lanes, beside another car that follows a fixed plan.
//
// Dynamics, plan and features follow the authors' code (docs/paper-code.md,
// section 1.5), which has a time step where the text has none.
package driver
