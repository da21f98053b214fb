// Package questionpage says of a question that was answered what was asked, what was answered and why it
// was asked, for the page of questions: on the server, and as a file with film strips.
package questionpage
