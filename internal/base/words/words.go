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
	if n < 0 {
		return "-" + separated(strconv.Itoa(n)[1:])
	}
	return separated(strconv.Itoa(n))
}

// separated writes separators into the whole part of a number without sign.
func separated(number string) string {
	whole, fraction, _ := strings.Cut(number, ".")
	if len(whole) < 5 {
		return number
	}
	out := whole[:(len(whole)-1)%3+1]
	for rest := whole[len(out):]; rest != ""; rest = rest[3:] {
		out += "," + rest[:3]
	}
	return out + number[len(number)-len(fraction)-min(len(fraction), 1):]
}

// People writes a number of people: "one person", "2 people".
func People(n int) string {
	if n == 1 {
		return "one person"
	}
	return Count(n) + " people"
}

// Plural writes a number of things: "1 answer", "2 answers".
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%s %ss", Count(n), thing)
}

// Signed writes a number with the minus sign − instead of a hyphen, and with the separators of Count. What is rounded to 0 has no sign.
func Signed(v float64, decimals int) string {
	text := fmt.Sprintf("%.*f", decimals, math.Abs(v))
	if v < 0 && text != fmt.Sprintf("%.*f", decimals, 0.0) {
		return "−" + separated(text)
	}
	return separated(text)
}

// List writes things after one another: "a", "a and b", "a, b and c"; "" for none.
func List(things []string) string {
	n := len(things)
	if n < 2 {
		return strings.Join(things, "")
	}
	return strings.Join(things[:n-1], ", ") + " and " + things[n-1]
}

// Bytes returns a size as people read it, with a digit more than whole units: "47.4 GB".
func Bytes(n int64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if float64(n) >= u.size {
			return fmt.Sprintf("%.1f %s", float64(n)/u.size, u.name)
		}
	}
	return Plural(int(n), "byte")
}

// Took shows how long something took, which is not negative: "0.3 s", "2 min 5 s", "3 h 20 min", "30 min".
func Took(d time.Duration) string {
	switch {
	case d.Round(time.Second/10) < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d.Round(time.Second) < time.Hour:
		d = d.Round(time.Second)
		return strings.TrimSuffix(fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second), " 0 s")
	}
	d = d.Round(time.Minute)
	return strings.TrimSuffix(fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute), " 0 min")
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
