// Package study is the room of what a researcher writes about a session.
//
// A YAML file or a page of Markdown enters; the settings of a session (studyfile), and safe
// HTML for annotators (instructions) leave. Errors name the line, and what to write in its
// place.
//
// It never starts a session, and no text of a researcher becomes a script of a page.
package study
