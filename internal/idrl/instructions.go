package idrl

import (
	"strings"
	"unicode/utf8"
)

// Formats of instructions.
const (
	PlainText = ""         // one point per line
	Markdown  = "markdown" // Markdown as package instructions reads it
)

// Instructions are the text for the annotators of a session. Their versions are counted from 1.
type Instructions struct {
	Version int64
	Format  string // PlainText or Markdown
	Text    string // at most MaxInstructions characters; empty for the environment's guide
}

// CurrentInstructions returns those of s.
func (s SessionSpec) CurrentInstructions() Instructions {
	return Instructions{max(1, s.InstructionsVersion), s.InstructionsFormat, s.Instructions}
}

// Check returns an error of kind Invalid that says what to change.
func (i Instructions) Check() error {
	switch n := utf8.RuneCountInString(i.Text); {
	case n > MaxInstructions:
		return Errorf(Invalid, "the instructions must have at most %d characters; they have %d", MaxInstructions, n)
	case i.Format != PlainText && i.Format != Markdown:
		return Errorf(Invalid, "unknown format of instructions %q; known: %q for plain text, %q", i.Format, PlainText, Markdown)
	case strings.ContainsRune(i.Text, 0):
		return Errorf(Invalid, "the instructions contain the character U+0000, which is not allowed")
	}
	return nil
}
