package idrl

import (
	"strings"
	"time"
	"unicode/utf8"
)

// CheckTitle returns an error of kind Invalid unless the title is allowed.
func CheckTitle(title string) error {
	switch {
	case strings.TrimSpace(title) == "" || utf8.RuneCountInString(title) > MaxTitle:
		return Errorf(Invalid, "the title must have 1 to %d characters", MaxTitle)
	case !utf8.ValidString(title) || strings.ContainsFunc(title, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return Errorf(Invalid, "the title must be plain text on one line")
	case !IsVisible(title):
		return NotVisible("title")
	}
	return nil
}

// Clone returns the settings for a copy of session s. What is counted or computed when a session is
// made is left empty. Instructions and consent text are the present ones.
func (s SessionSpec) Clone(title string, seed uint64) SessionSpec {
	s.ID, s.Title, s.Seed, s.CreatedAt = "", title, seed, time.Time{}
	s.InstructionsVersion, s.ConsentVersion, s.Rehearsal = 0, 0, false
	s.Features, s.PriorScale, s.Clip = nil, nil, ClipForm{}
	return s
}

// Titled returns a title with text before and after it; it cuts off the end of title so that all has at most MaxTitle characters.
func Titled(before, title, after string) string {
	most := MaxTitle - utf8.RuneCountInString(before) - utf8.RuneCountInString(after)
	if all := []rune(title); len(all) > most {
		title = strings.TrimSpace(string(all[:most]))
	}
	return before + title + after
}
