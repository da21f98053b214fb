// Package questions reports the questions that a session has asked: measurements of their clips
// (package measure), whether people could answer them, whether they looked like earlier ones, and
// the answers; as numbers, and as a page with a film strip of every clip.
package questions
