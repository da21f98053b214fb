package draw_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/look/draw"
)

// elements returns how often elements of a name are in an SVG, which must be well formed.
func elements(t *testing.T, svg, name string) (n int) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == name {
			n++
		}
	}
}

func TestSVGOfFlatScenes(t *testing.T) {
	scene := drawing.Scene{Camera: drawing.Camera{W: 4, H: 3}, Static: []drawing.Shape{
		{Kind: drawing.Polygon, Paint: drawing.Surface, Pts: []float64{-1, -1, 1, -1, 0, 1}},
		{Kind: drawing.Polyline, Paint: drawing.Mark, Size: 0.1, Pts: []float64{-1, 0, 1, 0}},
		{Kind: drawing.Text, Paint: drawing.Ink, Size: 0.5, Pts: []float64{0, 0}, Text: `<b>&"`},
		{Kind: drawing.Polygon, Paint: drawing.Wall, Pts: []float64{5, 5, 6, 5, 6, 6}}, // out of view
	}, Moving: []drawing.Shape{{Kind: drawing.Circle, Paint: drawing.Agent, Size: 0.5, Pts: []float64{1, 0.75}}}}
	svg := draw.SVG(&scene)
	for _, want := range []string{
		`viewBox="0 0 320 240"`, `<circle fill="var(--paint-agent)" cx="240" cy="60" r="40"/>`,
		`fill="var(--paint-surface)" d="M80 200L240 200L160 40Z"`, `&lt;b&gt;&amp;&#34;`, `stroke="var(--paint-mark)" stroke-width="8"`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("the drawing lacks %s:\n%s", want, svg)
		}
	}
	if strings.Contains(svg, "wall") {
		t.Error("what is out of view is drawn")
	}
}

// TestSVGOfSolidScenes: bodies are drawn from the farthest to the nearest, over the floor.
func TestSVGOfSolidScenes(t *testing.T) {
	scene := drawing.Scene{
		Camera: drawing.Camera{Z: 0.5, W: 4, H: 3, Distance: 10, Azimuth: math.Pi / 2, Elevation: 0.3},
		Static: []drawing.Shape{{Kind: drawing.Checker, Paint: drawing.Surface, Size: 1, Pts: []float64{0, 0, 0}}},
		Moving: []drawing.Shape{
			{Kind: drawing.Ball, Paint: drawing.Agent, Size: 0.3, Pts: []float64{0, -1, 0.5}},
			{Kind: drawing.Capsule, Paint: drawing.Other, Size: 0.2, Pts: []float64{-1, 1, 0.5, 1, 1, 0.5}},
			{Kind: drawing.Box, Paint: drawing.Wall, Pts: []float64{1, 0, 0.5, 1.3, 0, 0.5, 1, 0.3, 0.5, 1, 0, 0.8}},
		},
	}
	svg := draw.SVG(&scene)
	if elements(t, svg, "circle") != 2 || elements(t, svg, "path") < 6 { // an edge for each; sky, floor, squares, capsule, two or three faces
		t.Errorf("%d circles and %d paths in %s", elements(t, svg, "circle"), elements(t, svg, "path"), svg)
	}
	if strings.Index(svg, `"var(--paint-other)"`) > strings.Index(svg, `"var(--paint-agent)"`) {
		t.Error("what is near is drawn before what is far")
	}
	for _, bad := range []string{"NaN", "Inf"} {
		if strings.Contains(svg, bad) {
			t.Errorf("the drawing has %s", bad)
		}
	}
}
