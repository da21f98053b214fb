// Package record holds what is kept of a study beside the nouns of reward learning: the journal of a session and its rows (questions
// as they were asked, answers, snapshots of the posterior, features that were learnt), the settings that may change, known answers,
// what is told to people, flags, what marks an answer as doubtful, and jobs. Sessions write it, store keeps it, data and web read it. It
// imports nothing but the nouns, and does no input or output.
package record
