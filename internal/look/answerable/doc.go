// Package answerable estimates the probability that a person gives a clear answer to a question,
// from what they see of it. It learns from the replies of a session. It says which questions are
// worth asking, and never what an answer says about the reward. Source: docs/methods.md, section
// 1.5.
package answerable
