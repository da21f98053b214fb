// Package questions reports the questions that a session has asked: measurements of their clips
// (package measure), whether people could answer them, whether they looked like earlier ones, and
// answered, as numbers.
package questions
