// Package answerable says how probable it is that a person gives a clear answer to a
// question, by what they see of it. It learns from the replies of a session. It says which
// questions are worth asking, and never what an answer tells of the reward. Source:
// docs/methods.md, section 1.5.
package answerable
