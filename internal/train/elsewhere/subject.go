package elsewhere

import (
	"strings"

	"tiebreak/internal/idrl"
)

// Limits of subjects.
const (
	minWords, maxWords = 2, 6
	maxWord            = 64
)

// Valid reports whether name can be a word of a subject.
func Valid(name string) bool {
	return name != "" && len(name) <= maxWord && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// CheckSubject returns an error of kind Invalid unless subject is one.
func CheckSubject(subject string) error {
	words := strings.Split(subject, ".")
	ok := len(words) >= minWords && len(words) <= maxWords
	for _, w := range words {
		ok = ok && Valid(w)
	}
	if !ok {
		return idrl.Errorf(idrl.Invalid, "%.100q is no subject of messages between servers and workers", subject)
	}
	return nil
}

// CheckSent returns an error of kind Invalid unless data can be sent under subject.
func CheckSent(subject string, data []byte) error {
	if len(data) > MaxMessage {
		return idrl.Errorf(idrl.Invalid, "a message has %d bytes; at most %d are allowed", len(data), MaxMessage)
	}
	return CheckSubject(subject)
}

// Match reports whether a subject is one of pattern.
func Match(pattern, subject string) bool {
	p, s := strings.Split(pattern, "."), strings.Split(subject, ".")
	for k, word := range p {
		switch {
		case k >= len(s):
			return false
		case word == ">" && k == len(p)-1:
			return true
		case word != "*" && word != s[k]:
			return false
		}
	}
	return len(p) == len(s)
}
