package settings

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tiebreak/internal/idrl"
)

// A Problem says why a setting cannot have the value that it has.
type Problem struct {
	Key  string
	Text string // goes on from the key; after a colon if it is a sentence of its own
}

// String returns p as a sentence without a full stop.
func (p Problem) String() string {
	if strings.HasPrefix(p.Text, ":") {
		return p.Key + p.Text
	}
	return p.Key + " " + p.Text
}

// Check returns an error of kind Invalid that says what to change in a complete spec: see
// Complete. It does not know which environments and strategies there are.
func Check(spec idrl.SessionSpec) error {
	if all := Problems(spec); len(all) > 0 {
		return idrl.Errorf(idrl.Invalid, "%s", all[0])
	}
	return spec.CheckMade()
}

// Problems returns what is wrong with a complete spec: with each setting by itself, or, if those
// are in order, beside others.
func Problems(spec idrl.SessionSpec) (out []Problem) {
	for _, s := range table {
		if text := s.alone(spec); text != "" {
			out = append(out, Problem{s.Key, text})
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, s := range table {
		if s.rule == nil {
			continue
		}
		if text := s.rule(spec); text != "" {
			out = append(out, Problem{s.Key, text})
		}
	}
	return out
}

// alone says what is wrong with the value of s, whatever the others are.
func (s Setting) alone(spec idrl.SessionSpec) string {
	value := s.Text(spec)
	switch {
	case len(s.Values) > 0:
		if !slices.Contains(s.Names(), value) {
			return fmt.Sprintf("has no value %q; known: %s", value, s.choices())
		}
		return ""
	case s.Low == 0 && s.High == 0 || s.Zero != "" && s.IsZero(spec):
		return ""
	case s.Type() == Word && len(value) == 0 && s.Low > 0:
		return "must not be empty"
	case s.Type() == Word && float64(utf8.RuneCountInString(value)) > s.High:
		return fmt.Sprintf("must have at most %v characters; it has %d", s.High, utf8.RuneCountInString(value))
	case s.Type() == Word:
		return ""
	}
	if v, err := strconv.ParseFloat(value, 64); err != nil || !(v >= s.Low && v <= s.High) || s.Open && (v == s.Low || v == s.High) {
		return fmt.Sprintf("must be %s; got %s", s.expected(), value)
	}
	return ""
}

// expected says what the value of a number is, for people: "a whole number from 1 to 10".
func (s Setting) expected() string {
	r := s.Range()
	switch {
	case r == "":
		return string(s.Type())
	case s.Open:
		return string(s.Type()) + " " + r
	case math.IsInf(s.High, 1):
		return string(s.Type()) + ", " + r
	}
	return string(s.Type()) + " from " + r
}

// Range says which numbers or words s can be, for people; empty if any.
func (s Setting) Range() string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	text := ""
	switch {
	case len(s.Values) > 0 && s.Type() != Switch:
		return s.choices()
	case s.Type() == Word || s.Low == 0 && s.High == 0:
		return ""
	case s.Open && s.High < mostNumber:
		text = "above " + number(s.Low) + " and below " + number(s.High)
	case s.Open:
		text = "above " + number(s.Low)
	case math.IsInf(s.High, 1):
		text = "at least " + number(s.Low)
	default:
		text = number(s.Low) + " to " + number(s.High)
	}
	if s.Zero != "" && s.Low > 0 {
		text += ", or 0"
	}
	return text
}

// choices lists the words that s can be.
func (s Setting) choices() string {
	names := s.Names()
	for i, n := range names {
		if n == "" {
			names[i] = s.ZeroWord
		}
	}
	return strings.Join(names, ", ")
}

// rest returns an error's text.
func rest(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}
