package idrl

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckMade returns an error of kind Invalid that says what to change in the parts of a session
// that are not settings: entrants, and features of uploads with their scales. Package
// study/settings checks the settings.
func (s SessionSpec) CheckMade() error {
	if err := s.validateUploads(); err != nil {
		return err
	}
	switch {
	case s.IsArena():
		if err := s.Arena.Validate(); err != nil {
			return err
		}
	case s.PriorScale != nil && s.Features != nil && len(s.PriorScale) != len(s.Features):
		return Errorf(Invalid, "the prior has %d scales for %d features", len(s.PriorScale), len(s.Features))
	}
	if slices.ContainsFunc(s.PriorScale, func(v float64) bool { return !(v > 0 && !math.IsInf(v, 1)) }) {
		return Errorf(Invalid, "the scales of the prior must be positive numbers")
	}
	return nil
}

// CheckBudget returns an error of kind Invalid unless the number of answers is allowed.
func CheckBudget(answers int) error {
	if answers < 0 || answers > MaxBudget {
		return Errorf(Invalid, "the budget must be 0 (no limit) to %d answers; got %d", MaxBudget, answers)
	}
	return nil
}

// CheckGoldEvery returns an error of kind Invalid unless the number is allowed.
func CheckGoldEvery(n int) error {
	if n < 0 || n == 1 || n > MaxBudget {
		return Errorf(Invalid, "the number of questions for each gold question must be 0 (no gold questions) or 2 to %d; got %d", MaxBudget, n)
	}
	return nil
}

// IsLine reports whether text is one line of printable characters.
func IsLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
