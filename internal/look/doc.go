// Package look is the room of what a person sees.
//
// Scenes and pictures of trajectories enter; the bytes of the player (clip), drawings (draw),
// films (film) and reports with film strips (questions) leave, and what is measured on them:
// how much moves, how far two clips look apart (measure), and whether a question about them
// can be answered (answerable).
//
// It never sees a reward or a policy's name: two clips that look the same are the same here.
package look
