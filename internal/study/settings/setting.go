package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tiebreak/internal/idrl"
)

// A Setting is one setting of a session.
type Setting struct {
	Key      string // in study files and in JSON, and the name of the form's field; with - for _ the flag
	Label    string // short, for pages
	Words    string // what it says, for people: no sentence, so that it can follow a key or a label
	Unit     string // what a flag calls its value; empty: by its type
	Group    string // heading on the form; empty: above all headings
	Default  string // as text that Set reads
	Depends  string // the default in words where it depends on other settings
	Filled   bool   // its zero value is not a value, but stands for the default
	Zero     string // what its zero value says, for people; empty: nothing special
	ZeroWord string // how people write the zero value; empty: as it is

	// Low and High are the range of a number, and of the length of a text in characters; both zero:
	// any. The zero value may be outside if Zero says something.
	Low, High float64
	Open      bool // the ends of the range are not in it

	Values  []Value // of a choice among words and of a switch, the default first; nil: open
	Lines   int     // of the form's box for a text; 0: one line
	Changes bool    // a session that runs can change it

	at   func(*idrl.SessionSpec) any   // pointer to the field
	fill func(*idrl.SessionSpec)       // sets the zero value to the default, where that depends on other settings
	rule func(idrl.SessionSpec) string // what is wrong with it beside other settings, as the rest of a sentence after the key; empty: nothing
}

// A Value is one that a setting can have.
type Value struct{ Name, Title, Hint string }

// All returns the settings, in the order of study files.
func All() []Setting { return slices.Clone(table) }

// Find returns the setting with a key.
func Find(key string) (Setting, bool) {
	i := slices.IndexFunc(table, func(s Setting) bool { return s.Key == key })
	if i < 0 {
		return Setting{}, false
	}
	return table[i], true
}

// Get is Find of a key that is there; it panics if it is not.
func Get(key string) Setting {
	s, ok := Find(key)
	if !ok {
		panic("settings: no setting " + key)
	}
	return s
}

// Flag returns the name of the setting's flag.
func (s Setting) Flag() string { return strings.ReplaceAll(s.Key, "_", "-") }

// DefaultText returns the default as people read it.
func (s Setting) DefaultText() string {
	switch {
	case s.Depends != "":
		return s.Depends
	case s.ZeroWord != "" && s.isZeroText(s.Default):
		return s.ZeroWord
	}
	return s.Default
}

// Title returns what people call a value; the name itself if it is none of the known.
func (s Setting) Title(name string) string {
	for _, v := range s.Values {
		if v.Name == name {
			return v.Title
		}
	}
	return name
}

// Names returns the values that s can have; nil if it is open.
func (s Setting) Names() (out []string) {
	for _, v := range s.Values {
		out = append(out, v.Name)
	}
	return out
}

// Text returns the value of s in a spec as text.
func (s Setting) Text(spec idrl.SessionSpec) string {
	switch p := s.at(&spec).(type) {
	case *string:
		return *p
	case *idrl.QueryKind:
		return string(*p)
	case *bool:
		return strconv.FormatBool(*p)
	case *int:
		return strconv.Itoa(*p)
	case *int64:
		return strconv.FormatInt(*p, 10)
	case *uint64:
		return strconv.FormatUint(*p, 10)
	case *float64:
		return strconv.FormatFloat(*p, 'g', -1, 64)
	case fmt.Stringer:
		return p.String()
	}
	panic("settings: " + s.Key + " has a type that is not known")
}

// Set sets s in a spec to what text says. Its error goes on from the key.
func (s Setting) Set(spec *idrl.SessionSpec, text string) (err error) {
	if s.ZeroWord != "" && text == s.ZeroWord {
		text = s.Text(idrl.SessionSpec{})
	}
	switch p := s.at(spec).(type) {
	case *string:
		*p = text
	case *idrl.QueryKind:
		*p = idrl.QueryKind(text)
	case *bool:
		err = parsed(p, text, strconv.ParseBool)
	case *int:
		err = parsed(p, text, strconv.Atoi)
	case *int64:
		err = parsed(p, text, func(t string) (int64, error) { return strconv.ParseInt(t, 10, 64) })
	case *uint64:
		err = parsed(p, text, func(t string) (uint64, error) { return strconv.ParseUint(t, 10, 64) })
	case *float64:
		err = parsed(p, text, finite)
	case *idrl.Controls:
		return p.Set(text)
	}
	if err != nil {
		return fmt.Errorf("must be %s; got %q", s.expected(), text)
	}
	return nil
}

// Give is Set, but a number of zero is an error where zero would stand for the default.
func (s Setting) Give(spec *idrl.SessionSpec, text string) error {
	if err := s.Set(spec, text); err != nil {
		return err
	}
	return s.Given(*spec)
}

// Given returns an error if s is zero in a spec and that is no value. It goes on from the key.
func (s Setting) Given(spec idrl.SessionSpec) error {
	if is := s.Type(); s.Filled && (is == Whole || is == Number) && s.IsZero(spec) {
		return fmt.Errorf("must be %s; leave it out for the default, %s", s.expected(), s.DefaultText())
	}
	return nil
}

func parsed[T any](p *T, text string, parse func(string) (T, error)) error {
	v, err := parse(text)
	if err == nil {
		*p = v
	}
	return err
}

// finite parses a number that is neither infinite nor none.
func finite(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && v-v != 0 {
		err = strconv.ErrRange
	}
	return v, err
}

// Is tells the type of a setting's value.
type Is string

// Types of values.
const (
	Word   Is = "text"
	Switch Is = "true or false"
	Whole  Is = "a whole number"
	Number Is = "a number"
	Shares Is = "a list of strategies and shares"
)

// Type returns the type of the value of s.
func (s Setting) Type() Is {
	switch s.at(new(idrl.SessionSpec)).(type) {
	case *bool:
		return Switch
	case *int, *int64, *uint64:
		return Whole
	case *float64:
		return Number
	case *idrl.Controls:
		return Shares
	}
	return Word
}

// At returns a pointer to the field of a spec that s is.
func (s Setting) At(spec *idrl.SessionSpec) any { return s.at(spec) }

// Copy sets s in a spec to its value in another.
func (s Setting) Copy(to *idrl.SessionSpec, from idrl.SessionSpec) {
	if p, is := s.at(to).(*idrl.Controls); is {
		*p = from.Controls
		return
	}
	_ = s.Set(to, s.Text(from)) // a text of Text is always read
}

// IsZero reports whether s has its zero value in a spec.
func (s Setting) IsZero(spec idrl.SessionSpec) bool { return s.isZeroText(s.Text(spec)) }

func (s Setting) isZeroText(text string) bool { return text == s.Text(idrl.SessionSpec{}) }

// Defaults returns the settings that a session has if nothing is said of them. Settings that are
// Filled have their zero value: Complete knows what that stands for.
func Defaults() (spec idrl.SessionSpec) {
	for _, s := range table {
		if !s.Filled {
			_ = s.Set(&spec, s.Default) // tested
		}
	}
	return spec
}

// Complete returns spec with every zero value that stands for a default filled in.
func Complete(spec idrl.SessionSpec) idrl.SessionSpec {
	for _, s := range table {
		switch {
		case !s.IsZero(spec):
		case s.fill != nil:
			s.fill(&spec)
		case s.Filled:
			_ = s.Set(&spec, s.Default) // tested
		}
	}
	if spec.InstructionsVersion == 0 {
		spec.InstructionsVersion = 1
	}
	return spec
}

// Made lists the fields of idrl.SessionSpec that are no settings, because the program makes them
// with the session; an arena is no study.
func Made() []string {
	return []string{"ID", "Features", "PriorScale", "Clip", "InstructionsVersion", "ConsentVersion", "CreatedAt", "Arena", "Rehearsal"}
}

// Headings of the form.
const (
	asking   = "What is asked"
	training = "How policies are trained"
	learning = "What is learnt"
	saying   = "What annotators do and see"
	stopping = "When the session may stop"
	checking = "How answers are checked"

	describing = "What lists, reports and data cards say"
)
