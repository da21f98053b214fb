// Package look is the room of what a person sees.
//
// Scenes and pictures of trajectories enter; the bytes of the player (clip), drawings (draw),
// films (film) and reports with film strips (questions) leave, with measurements of them:
// the motion of a clip, the visible difference of two clips (measure), and the probability that
// people can answer a question about them (answerable).
//
// It never sees a reward or a policy's name: two clips that look the same are treated the same.
package look
