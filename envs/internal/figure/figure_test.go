package figure_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"tiebreak/envs/internal/figure"
	"tiebreak/internal/base/drawing"
)

// TestTokensDiffer tells tokens apart by the kind, corners and paint of their
// bodies, without the labels.
func TestTokensDiffer(t *testing.T) {
	seen := map[string]int{}
	for k := range figure.TokenKinds {
		shapes := figure.Token(0, 0, k, "x")
		form := fmt.Sprint(shapes[0].Kind, shapes[0].Paint, shapes[0].Pts)
		if before, ok := seen[form]; ok {
			t.Errorf("tokens %d and %d look alike: %s", before, k, form)
		}
		seen[form] = k
	}
	if a, b := figure.Token(1, 2, 3, "x"), figure.Token(1, 2, 3+figure.TokenKinds, "x"); a[0].Paint != b[0].Paint {
		t.Error("tokens do not repeat")
	}
}

// TestTokenStaysOnItsField: bodies and labels lie within half a unit of the
// middle. A letter is at most 0.75 of the text's height wide.
func TestTokenStaysOnItsField(t *testing.T) {
	for k := range figure.TokenKinds {
		for _, label := range []string{"A", "20", "B5", "A100"} {
			for _, s := range figure.Token(3, -2, k, label) {
				reach := s.Size
				if s.Kind == drawing.Text {
					reach = 0.75 * s.Size * float64(len(label)) / 2
				}
				for i := 0; i < len(s.Pts); i += 2 {
					if math.Abs(s.Pts[i]-3)+reach > 0.5 || math.Abs(s.Pts[i+1]+2)+s.Size/2 > 0.6 {
						t.Errorf("token %d, %q: %+v sticks out", k, label, s)
					}
				}
			}
		}
	}
}

// TestAgentHasOneTrail through the middle of its field, which is the mean of
// the points.
func TestAgentHasOneTrail(t *testing.T) {
	trails := 0
	for _, s := range figure.Agent(1.4, -2.8) {
		if !s.Trail {
			continue
		}
		trails++
		x, y := mean(s.Pts)
		if math.Abs(x-1.4) > 1e-9 || math.Abs(y+2.8) > 1e-9 {
			t.Errorf("the trail runs through (%v, %v), want (1.4, -2.8)", x, y)
		}
	}
	if trails != 1 {
		t.Errorf("%d shapes leave a trail, want 1", trails)
	}
}

func mean(pts []float64) (x, y float64) {
	for i := 0; i < len(pts); i += 2 {
		x, y = x+pts[i], y+pts[i+1]
	}
	n := float64(len(pts) / 2)
	return x / n, y / n
}

// TestArrow projects arrows on their way: the tip, which is the first point, is
// the farthest, and a pair shares the middle. Coordinates are rounded to 0.005.
func TestArrow(t *testing.T) {
	for _, to := range [][2]float64{{1.4, 0}, {-1.4, 0}, {0, 1.4}, {0, -2.1}, {1.4, 0.7}, {1.4, -0.7}} {
		for _, paired := range []bool{false, true} {
			s := figure.Arrow(0, 0, to[0], to[1], paired)
			length := math.Hypot(to[0], to[1])
			var along []float64
			for i := 0; i < len(s.Pts); i += 2 {
				along = append(along, (s.Pts[i]*to[0]+s.Pts[i+1]*to[1])/length-length/2)
			}
			if floats.MaxIdx(along) != 0 {
				t.Errorf("the arrow to %v, paired %v, does not point there: %v", to, paired, along)
			}
			tail := floats.Min(along)
			if (paired && math.Abs(tail) > 0.01) || (!paired && math.Abs(tail+along[0]) > 0.02) {
				t.Errorf("the arrow to %v, paired %v, reaches from %v to %v of the middle", to, paired, tail, along[0])
			}
		}
	}
}

// TestAgentLeavesTheLabel: the frame and the eyes of an agent lie outside the label of the
// field that it stands on, whose letters are at most 0.75 of their height wide and of capitals,
// 0.72 of it high.
func TestAgentLeavesTheLabel(t *testing.T) {
	for _, label := range []string{"A", "15", "B5", "100"} {
		for k := range figure.TokenKinds {
			shapes := figure.Token(0, 0, k, label)
			text := shapes[len(shapes)-1]
			wide, high := 0.75*text.Size*float64(len(label))/2, 0.72*text.Size/2
			for _, s := range figure.Agent(0, 0) {
				if s.Kind == drawing.Circle {
					if low := s.Pts[1] - s.Size; low < text.Pts[1]+high {
						t.Errorf("token %d: an eye reaches down to %v, the label %q up to %v", k, low, label, text.Pts[1]+high)
					}
					continue
				}
				inner := slices.Max(s.Pts) - s.Size/2
				if inner < wide || inner < math.Abs(text.Pts[1])+high {
					t.Errorf("token %d: the frame begins at %v, the label %q ends at %v and %v", k, inner, label, wide, math.Abs(text.Pts[1])+high)
				}
			}
		}
	}
}
