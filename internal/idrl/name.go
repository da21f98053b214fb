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
