package idrl

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of SessionSpec.Tags.
const (
	MaxTags     = 10  // of a session
	MaxTag      = 30  // characters of one
	MaxTagsText = 400 // characters of all, with the commas
)

// Tags returns the tags in a text that separates them by commas: without spaces around them, each once whatever its capitals, in their order.
func Tags(text string) (out []string) {
	for tag := range strings.SplitSeq(text, ",") {
		tag = strings.TrimSpace(tag)
		if tag != "" && !HasTag(out, tag) {
			out = append(out, tag)
		}
	}
	return out
}

// HasTag reports whether a tag is in a list, in capitals or not.
func HasTag(list []string, tag string) bool {
	return slices.ContainsFunc(list, func(t string) bool { return strings.EqualFold(t, tag) })
}

// CheckTags returns an error of kind Invalid, in words for people, if a text has too many tags, or one that is too long or cannot be shown.
func CheckTags(text string) error {
	switch n := utf8.RuneCountInString(text); {
	case n > MaxTagsText:
		return Errorf(Invalid, "the tags must have at most %d characters together; they have %d", MaxTagsText, n)
	case !IsVisible(text):
		return NotVisible("tags")
	case !IsLine(text):
		return Errorf(Invalid, "the tags must be one line of printable characters, separated by commas")
	}
	tags := Tags(text)
	if len(tags) > MaxTags {
		return Errorf(Invalid, "a session must have at most %d tags; these are %d", MaxTags, len(tags))
	}
	for _, tag := range tags {
		if n := utf8.RuneCountInString(tag); n > MaxTag {
			return Errorf(Invalid, "a tag must have at most %d characters; %q has %d", MaxTag, tag, n)
		}
	}
	return nil
}
