// Package driven runs sessions for research: the session that people have, on a journal in memory
// and by a clock that its caller moves.
//
// Where the clock stands still a training takes as long as the caller's trainer says, while answers
// go on by that clock. So when a generation comes into use does not depend on what else the machine
// does.
package driven
