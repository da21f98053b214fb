package idrl

import (
	"strings"
	"unicode"
)

// VisibleName returns a name without its characters that are invisible or change the order of others:
// control and format characters (bidirectional ones among them), separators of lines, and fillers. It keeps
// variation selectors, and joiners between letters of scripts that need them and between emoji.
func VisibleName(name string) string {
	runes := []rune(name)
	var out strings.Builder
	for i, r := range runes {
		if !hidden(r) || joiner(r) && i > 0 && i < len(runes)-1 && joinable(runes[i-1]) && joinable(runes[i+1]) {
			out.WriteRune(r)
		}
	}
	return out.String()
}

func hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}

// joiner reports whether r is the zero-width joiner or non-joiner.
func joiner(r rune) bool { return r == 0x200C || r == 0x200D }

// joinable reports whether a joiner may stand beside r: in Arabic and later blocks, to which the scripts of India and
// emoji belong.
func joinable(r rune) bool { return r >= 0x0600 && !hidden(r) }

// IsVisible reports whether text that people see has no characters that are invisible or change the order of others, besides the
// ends of lines and tabs. Names, titles and notes that people type are refused otherwise: they could pass for others, or turn
// the text beside them around.
func IsVisible(text string) bool {
	text = strings.NewReplacer("\r", "", "\n", "", "\t", "").Replace(text)
	return text == VisibleName(text)
}

// NotVisible returns the error of kind Invalid about a text that is not visible.
func NotVisible(what string) error {
	return Errorf(Invalid, "the %s contains invisible characters or characters that change the direction of text; type it again", what)
}
