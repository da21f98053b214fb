// Package look is the room of what a person sees.
//
// Scenes and pictures of trajectories enter; the bytes of the player (clip), drawings (draw) and
// films (film) leave, and what is measured on them: how much moves, how far two clips look
// apart (measure), whether a question about them can be answered (answerable), and which of those
// that were asked could be (questions).
//
// It never sees a reward or a policy's name: two clips that look the same are the same here.
package look
