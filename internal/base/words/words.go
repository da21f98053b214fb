package words

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Count writes a whole number as people read it, with separators from five digits on: "9999", "10,000".
func Count(n int) string {
	text := strconv.Itoa(n)
	digits := strings.TrimPrefix(text, "-")
	if len(digits) < 5 {
		return text
	}
	out := digits[:(len(digits)-1)%3+1]
	for rest := digits[len(out):]; rest != ""; rest = rest[3:] {
		out += "," + rest[:3]
	}
	return text[:len(text)-len(digits)] + out
}

// Plural writes a number of things: "1 answer", "2 answers".
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%s %ss", Count(n), thing)
}

// Signed writes a number with the minus sign − instead of a hyphen. What is rounded to 0 has no sign.
func Signed(v float64, decimals int) string {
	text := fmt.Sprintf("%.*f", decimals, math.Abs(v))
	if v < 0 && text != fmt.Sprintf("%.*f", decimals, 0.0) {
		return "−" + text
	}
	return text
}

// List writes things after one another: "a", "a and b", "a, b and c"; "" for none.
func List(things []string) string {
	n := len(things)
	if n < 2 {
		return strings.Join(things, "")
	}
	return strings.Join(things[:n-1], ", ") + " and " + things[n-1]
}

// AboutTime says how long d is, to a person who waits: "about 20 seconds". It is empty if d is not positive, for then it is not known.
func AboutTime(d time.Duration) string {
	const step = 5 * time.Second
	switch {
	case d <= 0:
		return ""
	case d <= step:
		return "a few seconds"
	case d <= 55*time.Second:
		return fmt.Sprintf("about %d seconds", int((d+step-1)/step*step/time.Second))
	case d < 90*time.Second:
		return "about a minute"
	case d < 90*time.Minute:
		return fmt.Sprintf("about %d minutes", int(d.Round(time.Minute)/time.Minute))
	default:
		return fmt.Sprintf("about %d hours", int(d.Round(time.Hour)/time.Hour))
	}
}
