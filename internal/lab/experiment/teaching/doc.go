// Package teaching measures whether a robot can be taught in one sitting: a simulated
// person, who sees nothing but the drawn clips, answers the questions of a session while
// policies are trained beside them.
//
// The clock of a lesson moves by the person's time for each answer, and a training takes as
// many seconds of it as it used of processor time: as if one processor did the trainings and nothing
// else. So a lesson does not depend on what else the machine does.
package teaching
