package web

import (
	"fmt"

	"tiebreak/internal/base/words"
)

// An axis maps numbers to a part of a drawing, in per cent of its width or height, so that a
// drawing fills the available space and its letters keep their size.
type axis struct {
	low, high float64 // numbers
	from, to  float64 // per cent; to may be less than from
}

// at returns the place of v, which is clamped to the axis.
func (a axis) at(v float64) float64 {
	if !(a.high > a.low) {
		return a.from
	}
	v = max(a.low, min(a.high, finite(v)))
	return a.from + (a.to-a.from)*(v-a.low)/(a.high-a.low)
}

// place is at, as a length of SVG.
func (a axis) place(v float64) string { return percentage(a.at(v)) }

func percentage(v float64) string { return fmt.Sprintf("%.2f%%", v) }

// signed writes a number with the minus sign − instead of a hyphen.
func signed(v float64, decimals int) string { return words.Signed(v, decimals) }
