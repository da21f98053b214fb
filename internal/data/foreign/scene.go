package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/data/jsonlimit"
	"tiebreak/internal/look/clip"
)

const leastJSON = 32 // bytes of a shape that can be drawn, which has at least kind, paint and points

// SceneLimits returns the limits of the arrays in a scene as JSON, which is at depth 0.
func SceneLimits() jsonlimit.Limits {
	return jsonlimit.Limits{{}, {Name: "shapes", Most: maxShapes, Least: leastJSON}, {}, {Name: "numbers in the points of a shape", Most: 3 * maxPoints}}
}

// A Scene is a drawing.Scene on the wire.
type Scene struct {
	Camera struct {
		X         float64 `json:"x"`
		Y         float64 `json:"y"`
		Z         float64 `json:"z"`
		W         float64 `json:"w"`
		H         float64 `json:"h"`
		Distance  float64 `json:"distance"`
		Azimuth   float64 `json:"azimuth"`
		Elevation float64 `json:"elevation"`
	} `json:"camera"`
	Static []Shape `json:"static"`
	Moving []Shape `json:"moving"`
}

// A Shape is a drawing.Shape on the wire.
type Shape struct {
	Kind   string    `json:"kind"`
	Paint  string    `json:"paint"`
	Size   float64   `json:"size"`
	Points []float64 `json:"points"`
	Text   string    `json:"text"`
	Trail  bool      `json:"trail"`
}

var paints = []drawing.Paint{
	drawing.Ground, drawing.Surface, drawing.Mark, drawing.Detail, drawing.Wall, drawing.Agent, drawing.AgentFg, drawing.Other, drawing.OtherFg, drawing.Focus, drawing.Ink,
	drawing.Object0, drawing.Object1, drawing.Object2, drawing.Object3, drawing.Object4, drawing.Object5, drawing.Object6, drawing.Object7, drawing.Object8, drawing.Object9,
}

// Read returns w as a scene whose numbers are finite and whose shapes a page can draw.
func (w *Scene) Read() (drawing.Scene, error) {
	c := w.Camera
	out := drawing.Scene{Camera: drawing.Camera{X: c.X, Y: c.Y, Z: c.Z, W: c.W, H: c.H, Distance: c.Distance, Azimuth: c.Azimuth, Elevation: c.Elevation}}
	if !Finite([]float64{c.X, c.Y, c.Z, c.W, c.H, c.Distance, c.Azimuth, c.Elevation}) || !(c.W > 0 && c.H > 0 && c.Distance >= 0 && math.Abs(c.Elevation) < math.Pi/2) {
		return out, fmt.Errorf("the camera %+v cannot look at anything", c)
	}
	if !out.Camera.Solid() && (c.Z != 0 || c.Azimuth != 0 || c.Elevation != 0) {
		return out, fmt.Errorf("the camera of a flat scene has no z, azimuth and elevation")
	}
	if len(w.Static)+len(w.Moving) > maxShapes {
		return out, fmt.Errorf("there are more than %d shapes", maxShapes)
	}
	points := 0
	for i, list := range [][]Shape{w.Static, w.Moving} {
		for _, s := range list {
			if points += len(s.Points); points > 3*maxPoints {
				return out, fmt.Errorf("there are more than %d points", maxPoints)
			}
			one, err := s.read(out.Camera, i == 1)
			if err != nil {
				return out, err
			}
			if i == 0 {
				out.Static = append(out.Static, one)
			} else {
				out.Moving = append(out.Moving, one)
			}
		}
	}
	return out, nil
}

func (s *Shape) read(c drawing.Camera, moving bool) (drawing.Shape, error) {
	out := drawing.Shape{Kind: drawing.ShapeKind(s.Kind), Paint: drawing.Paint(s.Paint), Size: s.Size, Pts: s.Points, Text: s.Text, Trail: s.Trail}
	switch {
	case !slices.Contains(paints, out.Paint):
		return out, fmt.Errorf("a %.20q has the unknown paint %.20q", s.Kind, s.Paint)
	case !Finite(s.Points) || !Finite([]float64{s.Size}):
		return out, fmt.Errorf("a %.20q has a number that is too large", s.Kind)
	case !IsLine(s.Text, maxLabel) || (s.Text != "") != (out.Kind == drawing.Text):
		return out, fmt.Errorf("a %.20q has a text of more than %d characters, or none, or must have none", s.Kind, maxLabel)
	case s.Trail && !moving || moving && out.Kind == drawing.Checker:
		return out, fmt.Errorf("a %.20q cannot move, or has no trail", s.Kind)
	}
	return out, clip.CheckShape(out, c)
}

// SameForm returns an error unless the scenes of one environment differ in the points of
// moving shapes and the centre of the camera alone.
func SameForm(first, now *drawing.Scene) error {
	a, b := first.Camera, now.Camera
	a.X, a.Y, a.Z = b.X, b.Y, b.Z
	same := func(points bool) func(a, b drawing.Shape) bool {
		return func(a, b drawing.Shape) bool {
			return a.Kind == b.Kind && a.Paint == b.Paint && a.Size == b.Size && a.Text == b.Text && a.Trail == b.Trail &&
				len(a.Pts) == len(b.Pts) && (!points || slices.Equal(a.Pts, b.Pts))
		}
	}
	switch {
	case a != b:
		return fmt.Errorf("the camera changed otherwise than by its centre")
	case !slices.EqualFunc(first.Static, now.Static, same(true)):
		return fmt.Errorf("its static shapes changed")
	case !slices.EqualFunc(first.Moving, now.Moving, same(false)):
		return fmt.Errorf("its moving shapes changed otherwise than by their points")
	}
	return nil
}

// ReadScenes reads a list of scenes as outside environments send them, of one environment.
func ReadScenes(b []byte) ([]drawing.Scene, error) {
	var list []Scene
	limits := append(jsonlimit.Limits{{Name: "scenes", Most: MaxSteps + 1}}, SceneLimits()...)
	if err := Decode(bytes.NewReader(b), limits, &list); err != nil {
		return nil, err
	}
	return Scenes(list)
}

// WriteScenes writes scenes as ReadScenes reads them.
func WriteScenes(list []drawing.Scene) ([]byte, error) {
	shapes := func(list []drawing.Shape) []Shape {
		out := make([]Shape, len(list))
		for i, s := range list {
			out[i] = Shape{Kind: string(s.Kind), Paint: string(s.Paint), Size: s.Size, Points: s.Pts, Text: s.Text, Trail: s.Trail}
		}
		return out
	}
	out := make([]Scene, len(list))
	for i, s := range list {
		c, to := s.Camera, &out[i].Camera
		to.X, to.Y, to.Z, to.W, to.H, to.Distance, to.Azimuth, to.Elevation = c.X, c.Y, c.Z, c.W, c.H, c.Distance, c.Azimuth, c.Elevation
		out[i].Static, out[i].Moving = shapes(s.Static), shapes(s.Moving)
	}
	return json.Marshal(out)
}

// Scenes returns scenes of one environment as this program draws them.
func Scenes(list []Scene) ([]drawing.Scene, error) {
	out := make([]drawing.Scene, len(list))
	for i := range list {
		var err error
		if out[i], err = list[i].Read(); err == nil {
			err = SameForm(&out[0], &out[i])
		}
		if err != nil {
			return nil, fmt.Errorf("scene %d: %w", i, err)
		}
	}
	return out, nil
}
