package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Spaces at which a line does not break.
const (
	space = "\u00a0"
	pm    = space + "±" + space
)

// decimals returns how many digits after the point suit a number of the size of
// v: three or four digits in all.
func decimals(v float64) int {
	switch v = math.Abs(v); {
	case v >= 1000:
		return 0
	case v >= 100:
		return 1
	case v >= 1:
		return 2
	default:
		return 3
	}
}

// short formats v for people. Numbers that three decimals would hide have two
// significant digits.
func short(v float64) string {
	switch {
	case v == 0:
		return "0"
	case math.Abs(v) < 0.01:
		return minus(strconv.FormatFloat(v, 'g', 2, 64))
	}
	return minus(strconv.FormatFloat(v, 'f', decimals(v), 64))
}

// signed is short with a plus sign.
func signed(v float64) string {
	if v > 0 {
		return "+" + short(v)
	}
	return short(v)
}

// minus writes the sign of a negative number as such.
func minus(s string) string { return strings.ReplaceAll(s, "-", "−") }

// plusMinus formats a mean and its standard error with the same digits.
func plusMinus(m Mean) string {
	size := max(math.Abs(m.Mean), m.SE)
	if size < 0.01 {
		return short(m.Mean) + pm + short(m.SE)
	}
	d := decimals(size)
	mean := strconv.FormatFloat(m.Mean, 'f', d, 64)
	if strings.Trim(mean, "-0.") == "" {
		mean = "0" // and not −0.00
	}
	return minus(mean) + pm + strconv.FormatFloat(m.SE, 'f', d, 64)
}

func between(v [2]float64, format func(float64) string) string {
	return format(v[0]) + " to " + format(v[1])
}

func percent(v float64) string { return minus(strconv.FormatFloat(100*v, 'f', 0, 64)) + space + "%" }

// counted formats a share of n of which nothing is rounded away.
func counted(v float64, n int) string {
	return fmt.Sprintf("%.0f%sof%s%d", v*float64(n), space, space, n)
}

// exactPercent is percent with a decimal, so that 99.6 % is not 100 %.
func exactPercent(v float64) string {
	if v == 0 || v == 1 {
		return percent(v)
	}
	return strconv.FormatFloat(100*v, 'f', 1, 64) + space + "%"
}

// change formats a relative change.
func change(v float64) string {
	if v > 0 {
		return "+" + percent(v)
	}
	return percent(v)
}

// probability formats a P value.
func probability(p float64) string {
	if p < 0.0001 {
		return "< 0.0001"
	}
	return fmt.Sprintf("%#.2g", p)
}
