package web

import (
	"fmt"
	"math"
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

// ticks returns about n round numbers from low to high, and how many decimals show them.
func ticks(low, high float64, n int) (out []float64, decimals int) {
	if !(high > low) || math.IsInf(high-low, 0) {
		return []float64{low}, 0
	}
	raw := (high - low) / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * power
	for _, m := range []float64{1, 2, 5} {
		if m*power >= raw {
			step = m * power
			break
		}
	}
	for k := math.Ceil(low/step - 1e-9); k*step <= high+1e-9*step; k++ {
		out = append(out, k*step+0) // + 0: no −0
	}
	return out, max(0, -int(math.Floor(math.Log10(step)+1e-9)))
}

// signed writes a number with the minus sign − instead of a hyphen.
func signed(v float64, decimals int) string {
	text := fmt.Sprintf("%.*f", decimals, math.Abs(v))
	if v < 0 && text != fmt.Sprintf("%.*f", decimals, 0.0) {
		return "−" + text
	}
	return text
}
