package mujoco

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"tiebreak/envs/corridor"
	"tiebreak/envs/mujoco/engine"
	"tiebreak/internal/base/drawing"
)

func TestForm(t *testing.T) {
	root := math.Sqrt(math.Pi)
	for _, test := range []struct {
		name string
		geom engine.GeomType
		size [3]float64
		want drawing.Shape // an empty kind: not drawn
	}{
		{"sphere", engine.Sphere, [3]float64{0.3, 0, 0}, drawing.Shape{Kind: drawing.Ball, Size: 0.3, Pts: []float64{0, 0, 0}}},
		{"capsule", engine.Capsule, [3]float64{0.1, 0.5, 0}, drawing.Shape{Kind: drawing.Capsule, Size: 0.1, Pts: []float64{0, 0, -0.5, 0, 0, 0.5}}},
		{"long cylinder is as long as its capsule", engine.Cylinder, [3]float64{0.25, 1, 0}, drawing.Shape{Kind: drawing.Capsule, Size: 0.25, Pts: []float64{0, 0, -0.75, 0, 0, 0.75}}},
		{"disc has the area of its box", engine.Cylinder, [3]float64{2, 1, 0}, drawing.Shape{Kind: drawing.Box, Pts: []float64{0, 0, 0, root, 0, 0, 0, root, 0, 0, 0, 1}}},
		{"round ellipsoid", engine.Ellipsoid, [3]float64{1, 1.25, 1.5}, drawing.Shape{Kind: drawing.Ball, Size: 1.25, Pts: []float64{0, 0, 0}}},
		{"flat ellipsoid", engine.Ellipsoid, [3]float64{1, 1, 0.5}, drawing.Shape{Kind: drawing.Box, Pts: []float64{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0.5}}},
		{"box", engine.Cuboid, [3]float64{1, 2, 3}, drawing.Shape{Kind: drawing.Box, Pts: []float64{0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3}}},
		{"mesh", engine.Mesh, [3]float64{1, 2, 3}, drawing.Shape{Kind: drawing.Box, Pts: []float64{0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3}}},
		{"plane", engine.Plane, [3]float64{1, 2, 3}, drawing.Shape{}},
		{"height field", engine.HeightField, [3]float64{1, 2, 3}, drawing.Shape{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got drawing.Shape
			drawn := form(engine.Geom{Type: test.geom, Size: test.size}, &got)
			if drawn != (test.want.Kind != "") || got.Kind != test.want.Kind || got.Size != test.want.Size || !slices.Equal(got.Pts, test.want.Pts) {
				t.Errorf("form = %+v, %v; want %+v", got, drawn, test.want)
			}
		})
	}
}

// TestCells sets what is drawn of a corridor against what package corridor says
// of the same places: walls and outlines are farther out, by what a robot reaches.
func TestCells(t *testing.T) {
	const reach = 1.5
	m := corridor.Maze{CellSize: 4}
	goals, numbers := 0, 0
	for _, s := range cells(m, reach, 0.5) {
		least, most := slices.Min(ys(s)), slices.Max(ys(s))
		switch s.Kind {
		case drawing.Text:
			numbers++
			if c, ok := m.Cell(s.Pts[0], s.Pts[1]); !ok || strconv.Itoa(c+1) != s.Text {
				t.Errorf("the number %s lies in cell %d, %v", s.Text, c+1, ok)
			}
		case drawing.Polygon:
			if level(s) {
				goals++
				if c, ok := m.Cell((s.Pts[0]+s.Pts[6])/2, (s.Pts[1]+s.Pts[7])/2); !ok || c != corridor.Goal {
					t.Errorf("the goal is drawn in cell %d, %v", c, ok)
				}
			} else if most < 2+reach {
				t.Errorf("a wall stands at the near side, between %v and %v", least, most)
			}
		case drawing.Polyline:
			inside := func(x, y float64) bool { // of the corridor without reach
				if x < -2-reach/2 {
					x += reach
				} else if x > 50+reach/2 {
					x -= reach
				}
				_, ok := m.Cell(x, y-math.Copysign(reach, y))
				return ok
			}
			for i := 0; i < len(s.Pts); i += 3 { // corners of cells: one step on is inside, or none is
				x, y := s.Pts[i], s.Pts[i+1]
				near := []bool{inside(x-0.1, y-0.1), inside(x+0.1, y-0.1), inside(x-0.1, y+0.1), inside(x+0.1, y+0.1)}
				if !slices.Contains(near, true) || !slices.Contains(near, false) || s.Pts[i+2] != 0.5 {
					t.Errorf("a line has a corner at %v, which is none of the corridor", s.Pts[i:i+3])
				}
			}
		default:
			t.Errorf("a corridor has a %s", s.Kind)
		}
	}
	if goals != 1 || numbers != corridor.Cells {
		t.Errorf("%d goals and %d numbers, want 1 and %d", goals, numbers, corridor.Cells)
	}
}

func ys(s drawing.Shape) (out []float64) {
	for i := 1; i < len(s.Pts); i += 3 {
		out = append(out, s.Pts[i])
	}
	return out
}

// level reports whether all points of s have one height.
func level(s drawing.Shape) bool {
	for i := 5; i < len(s.Pts); i += 3 {
		if s.Pts[i] != s.Pts[2] {
			return false
		}
	}
	return true
}
