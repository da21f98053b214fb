// Package lab is the room of research on the method itself.
//
// True rewards and experts that answer by them (sim), people who see only what is drawn
// (seeing), rehearsals of a study (rehearsal), sessions by a clock that is moved (driven), the paper's
// experiments and those on such sessions (experiment), load on a server (loadtest), and the making of libraries and gaits
// (librarian, gaits) are here. A setting and seeds enter; tables, figures and files leave.
//
// No other room imports it: what a session with people knows never comes from a true reward.
package lab
