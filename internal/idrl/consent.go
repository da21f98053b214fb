package idrl

import (
	"strings"
	"unicode/utf8"
)

// A Consent is the text to which people must agree before they answer questions of a session.
type Consent struct {
	Version int64  // from 1; 0 if there never was one
	Text    string // Markdown, at most MaxConsent characters; empty: no consent is asked for
}

// MaxConsent is the greatest length of a consent text, in characters.
const MaxConsent = 16000

// CurrentConsent returns that of s.
func (s SessionSpec) CurrentConsent() Consent {
	if s.ConsentVersion == 0 && s.Consent != "" {
		return Consent{1, s.Consent}
	}
	return Consent{s.ConsentVersion, s.Consent}
}

// Awaits reports whether a person who has agreed to a version, 0 for none, must agree before their
// next question.
func (c Consent) Awaits(agreed int64) bool { return c.Text != "" && agreed < c.Version }

// Check returns an error of kind Invalid that says what to change.
func (c Consent) Check() error {
	switch n := utf8.RuneCountInString(c.Text); {
	case n > MaxConsent:
		return Errorf(Invalid, "the consent text must have at most %d characters; it has %d", MaxConsent, n)
	case strings.ContainsRune(c.Text, 0):
		return Errorf(Invalid, "the consent text contains the character U+0000, which is not allowed")
	}
	return nil
}

// MaxWithdrawDays is the largest number of days in which people can withdraw their data themselves.
const MaxWithdrawDays = 3650
