// Package measure measures what a person sees of clips: how much a clip moves, how far
// two clips look apart, and from these whether a question about them can be answered.
// It reads the drawn form of a clip (package clip), so that it knows no features and no
// environment; equal clips give equal numbers.
//
// Lengths are body sizes: a body is twice the root mean square distance of its points
// to their centre. Times are seconds of the viewer, who may see slow motion.
//
// The points of a solid scene are the ends of its capsules and the centres of its balls
// and boxes. Those of a flat scene are the points of its lines, polygons and circles;
// if some shapes of it have the paint Agent, these are the body, and the places of the
// others are relative to it.
package measure

// Thresholds. They were found by looking at film strips of about a hundred pairs of
// clips of HalfCheetah, Hopper and Swimmer, ordered by these measures: below 0.06 body
// sizes a second a clip is a heap or stands; at 0.10 to 0.13 a swimmer creeps, which
// takes the whole clip to see; at 0.3 it plainly winds. Two clips with poses less than
// 0.10 and paths less than 0.1 apart look the same; from 0.25 or 0.5 on they differ at a
// glance; between these a person has to look for the difference. Ten pairs each of Ant and
// Reacher across the range agree.
const (
	StillBelow    = 0.15 // motion, body sizes a second
	LivelyFrom    = 0.3
	WhirlingAbove = 10. // too fast to follow: what counts is where it ends

	AlikePose  = 0.12 // body sizes: a pair below all three is alike; on a map unless the clips end AlikePlace or more apart
	AlikePath  = 0.15
	AlikePlace = 0.5

	EasyPose  = 0.25 // body sizes: a pair at or above one of them is easy
	EasyPath  = 0.5
	EasyPlace = AlikePlace

	FallenFrom = 0.75 // share of the states of a clip

	// StaysApart, body sizes, is how far apart two robots that stay where they are must be to be
	// compared. In a corridor it is 40 % (ant) or 80 % (swimmer) of the way from the start to the goal.
	StaysApart = 8.
)

// frameSec is the viewer's time between the frames that are compared. Their number
// decides what a comparison costs.
const frameSec = 0.05

// maxShift is the largest share of a clip by which two clips are shifted against each
// other, and shifts the number of shifts that are tried first, to either side.
const (
	maxShift = 0.25
	shifts   = 5
)
