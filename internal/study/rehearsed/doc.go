// Package rehearsed says what a session may be expected to give after so many answers, from rehearsals
// with simulated people that were made before ('tiebreak simulate --keep') and are part of the
// program, and how long people take.
package rehearsed
