// Package instructions turns what researchers write for annotators, in Markdown, into HTML
// that is safe to show: CommonMark without raw HTML, links to the web and to mail only, and
// pictures only of the session's own.
package instructions
