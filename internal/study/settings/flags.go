package settings

import (
	"flag"
	"slices"
	"strings"

	"tiebreak/internal/idrl"
)

// Declare declares a flag for every setting but for the keys in except, and sets each of them in
// spec to its default.
func Declare(fs *flag.FlagSet, spec *idrl.SessionSpec, except ...string) {
	for _, s := range table {
		if !slices.Contains(except, s.Key) {
			s.declare(fs, spec)
		}
	}
}

// DeclareOnly is Declare of the keys alone.
func DeclareOnly(fs *flag.FlagSet, spec *idrl.SessionSpec, keys ...string) {
	for _, key := range keys {
		Get(key).declare(fs, spec)
	}
}

func (s Setting) declare(fs *flag.FlagSet, spec *idrl.SessionSpec) {
	if !s.Filled {
		_ = s.Set(spec, s.Default) // tested
	}
	fs.Var(&value{s, spec}, s.Flag(), s.usage())
	shown := s.DefaultText()
	if s.Zero != "" && s.isZeroText(s.Default) {
		shown = "" // the usage says what 0 means
	}
	fs.Lookup(s.Flag()).DefValue = shown
}

// usage says what s is, with the name of its value in back quotes.
func (s Setting) usage() string {
	text := strings.ReplaceAll(s.Words, "`", "'")
	switch {
	case s.Type() == Switch:
	case s.Unit != "" && strings.Contains(text, s.Unit):
		text = strings.Replace(text, s.Unit, "`"+s.Unit+"`", 1)
	case s.Unit != "":
		text = "`" + s.Unit + "` " + text
	}
	return wrapped(text + s.Limits())
}

// wrapped breaks a text into lines of at most 110 characters or so.
func wrapped(text string) string {
	var b strings.Builder
	line := 0
	for i, word := range strings.Fields(text) {
		if line+len(word) > 110 {
			b.WriteByte('\n')
			line = 0
		} else if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
		line += len(word) + 1
	}
	return b.String()
}

// Limits says which values s has beside Words, and what its zero value says: "; 1 to 10; 0: never".
func (s Setting) Limits() (text string) {
	if r := s.Range(); r != "" {
		text = "; " + r
		if s.Type() == Word {
			text = ": " + r
		}
	}
	switch {
	case s.Zero == "":
	case s.Type() == Word || s.Type() == Shares:
		text += "; empty: " + s.Zero
	case s.ZeroWord != "":
		text = strings.TrimSuffix(text, ", or 0") + "; 0 or " + s.ZeroWord + ": " + s.Zero
	default:
		text = strings.TrimSuffix(text, ", or 0") + "; 0: " + s.Zero
	}
	return text
}

// A value is the value of a flag.
type value struct {
	of   Setting
	spec *idrl.SessionSpec
}

// String implements flag.Value.
func (v *value) String() string {
	if v.spec == nil {
		return ""
	}
	return v.of.Text(*v.spec)
}

// Set implements flag.Value.
func (v *value) Set(text string) error { return v.of.Set(v.spec, text) }

// IsBoolFlag tells package flag that a switch needs no value.
func (v *value) IsBoolFlag() bool { return v.spec != nil && v.of.Type() == Switch }
