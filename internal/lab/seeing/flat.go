package seeing

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// flatTastes returns the tastes about environments that are seen from above.
func flatTastes() []Taste {
	letters := "stand on A rather than on B, and so on to J, which is worst; fields without a letter are between E and F"
	return []Taste{
		{"driver", "far", "drive far ahead on the road, and hit nothing", 0.05, -1, 2, true, drive},
		{"gridworld", "letters", letters, 0.05, -1, 1, true, stand(byLetter)},
		{"chain", "high", "be on high numbers", 0.025, 0, 1, true, stand(byNumber)},
		{"junction", "branch-a", "be in branch A, and not in branch B", 0.05, -1, 1, true, stand(byBranch)},
		{"gridworld-code", "letters", letters, 0.05, -1, 1, true, stand(byLetter)},
	}
}

// errDrawing says that a clip is drawn in another way than the one that is known.
func errDrawing(c *clip.Clip) error {
	return idrl.Errorf(idrl.Invalid, "a clip of %s is drawn in another way than the one that is known", c.Header.Env)
}

// stand returns a worth that is the mean, over the states of a clip, of the worth of the field
// that the agent is on, by its label; empty on a field without one.
func stand(worth func(label string) float64) func(*clip.Clip) (float64, error) {
	return func(c *clip.Clip) (sum float64, err error) {
		agent := mover(c, func(s clip.Shape) bool { return s.Kind == drawing.Polyline && s.Paint == drawing.Agent && s.Trail })
		if agent == nil || c.Header.Distance > 0 {
			return 0, errDrawing(c)
		}
		for _, row := range c.Frames {
			x, y := centre(row, agent)
			sum += worth(labelAt(c, x, y)) / float64(len(c.Frames))
		}
		return sum, nil
	}
}

// byLetter returns 1 for A, −1 for J, and what lies between for the letters between; 0 without
// a letter.
func byLetter(label string) float64 {
	if len(label) != 1 || label[0] < 'A' || label[0] > 'J' {
		return 0
	}
	return 1 - 2*float64(label[0]-'A')/('J'-'A')
}

// byNumber returns a number as a share of 20.
func byNumber(label string) float64 {
	n, err := strconv.Atoi(label)
	if err != nil {
		return 0
	}
	return float64(n) / 20
}

// byBranch returns 1 in branch A, −1 in branch B.
func byBranch(label string) float64 {
	switch {
	case strings.HasPrefix(label, "A"):
		return 1
	case strings.HasPrefix(label, "B"):
		return -1
	}
	return 0
}

// labelAt returns the text on the field around a place; fields are one unit wide.
func labelAt(c *clip.Clip, x, y float64) string {
	for _, s := range c.Header.Static {
		if s.Kind == drawing.Text && math.Abs(s.Pts[0]-x) < 0.5 && math.Abs(s.Pts[1]-y) < 0.5 {
			return s.Text
		}
	}
	return ""
}

// mover returns the points of the first moving shape that is as asked for; nil if there is none.
func mover(c *clip.Clip, is func(clip.Shape) bool) []int {
	i := slices.IndexFunc(c.Header.Moving, is)
	if i < 0 {
		return nil
	}
	return c.Header.Moving[i].At
}

// corners returns the places of points of a flat scene in a frame.
func corners(row []float64, at []int) [][2]float64 {
	out := make([][2]float64, len(at))
	for i, p := range at {
		out[i] = [2]float64{row[2*p], row[2*p+1]}
	}
	return out
}

// centre returns the mean of points of a flat scene in a frame.
func centre(row []float64, at []int) (x, y float64) {
	n := float64(len(at))
	for _, p := range corners(row, at) {
		x += p[0] / n
		y += p[1] / n
	}
	return x, y
}
