package draw_test

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/draw"
	"tiebreak/internal/look/draw/drawtest"
	"tiebreak/static"
)

// TestTheme compares the colours with those of the page's light theme.
func TestTheme(t *testing.T) {
	css := must.Get(static.FS.ReadFile("css/app.css"))(t)
	light, _, _ := strings.Cut(string(css), "@media")
	want := map[drawing.Paint]color.RGBA{}
	for _, m := range regexp.MustCompile(`--paint-(\w+): #(\w+);`).FindAllStringSubmatch(light, -1) {
		hex := m[2]
		if len(hex) == 3 {
			hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
		}
		v := must.Get(strconv.ParseUint(hex, 16, 32))(t)
		want[drawing.Paint(m[1])] = color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}
	}
	if d := cmp.Diff(want, draw.Theme()); d != "" || len(want) != 21 {
		t.Errorf("%d paints in the page's theme: %s", len(want), d)
	}
}

// A world is an environment that is always the same but for its moving shapes.
type world struct {
	scene  drawing.Scene
	moving func(t float64) []drawing.Shape // nil: none
	t      float64
}

func (w *world) Spec() idrl.EnvSpec {
	return idrl.EnvSpec{ID: "world", FeatureNames: []string{"F"}, StepSeconds: 1, Playback: 1}
}
func (w *world) Reset(*rand.Rand) idrl.TimeStep   { return idrl.TimeStep{} }
func (w *world) Step(idrl.Action) idrl.TimeStep   { return idrl.TimeStep{} }
func (w *world) Snapshot(dst []float64) []float64 { return append(dst[:0], w.t) }
func (w *world) Restore(s []float64)              { w.t = s[0] }
func (w *world) Draw(dst *drawing.Scene) {
	*dst = w.scene
	if w.moving != nil {
		dst.Moving = w.moving(w.t)
	}
}

// painter returns that of a clip of steps steps.
func (w *world) painter(t *testing.T, steps int) *draw.Painter {
	t.Helper()
	var states [][]float64
	for i := range steps + 1 {
		states = append(states, []float64{float64(i)})
	}
	b := must.Get(clip.Encode(w, idrl.Clip{ID: "c", Steps: steps, Phi: []float64{0}, Snapshots: states}))(t)
	return painter(t, b)
}

func painter(t *testing.T, media []byte) *draw.Painter {
	t.Helper()
	c := must.Get(clip.Decode(media))(t)
	return draw.New(c)
}

// flat returns what is seen of shapes on 40×40 pixels of 0.1 world units.
func flat(t *testing.T, shapes ...drawing.Shape) *image.RGBA {
	t.Helper()
	w := &world{scene: drawing.Scene{Camera: drawing.Camera{W: 4, H: 4}, Static: shapes}}
	return drawn(w.painter(t, 0), 40, 0)
}

// The camera of solid scenes of these tests: 4 units before it, level.
var ahead = drawing.Camera{W: 4, H: 4, Distance: 4, Azimuth: math.Pi / 2}

// solid returns what is seen of shapes by a camera on 80×80 pixels.
func solid(t *testing.T, camera drawing.Camera, shapes ...drawing.Shape) *image.RGBA {
	t.Helper()
	w := &world{scene: drawing.Scene{Camera: camera, Static: shapes}}
	return drawn(w.painter(t, 0), 80, 0)
}

func drawn(p *draw.Painter, side int, frame float64) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, side, side))
	p.Draw(img, frame)
	return img
}

func square(x0, y0, x1, y1 float64) []float64 { return []float64{x0, y0, x1, y0, x1, y1, x0, y1} }

// covered returns how many pixels a shape of a paint covers, as parts of pixels,
// judged by the red of an otherwise even picture.
func covered(img *image.RGBA, p drawing.Paint) float64 {
	from, to := float64(draw.Theme()[drawing.Ground].R), float64(draw.Theme()[p].R)
	sum := 0.0
	for i := 0; i < len(img.Pix); i += 4 {
		sum += (float64(img.Pix[i]) - from) / (to - from)
	}
	return sum
}

func TestFlatAreas(t *testing.T) {
	for _, test := range []struct {
		name  string
		shape drawing.Shape
		want  float64 // pixels: 100 a square unit
	}{
		{"square on pixels", drawing.Shape{Kind: drawing.Polygon, Pts: square(0, 0, 1, 1)}, 100},
		{"square between pixels", drawing.Shape{Kind: drawing.Polygon, Pts: square(-0.52, 0.13, 0.77, 0.96)}, 129 * 0.83},
		{"partly outside", drawing.Shape{Kind: drawing.Polygon, Pts: square(1, 1, 1e6, 1e6)}, 100},
		{"all around", drawing.Shape{Kind: drawing.Polygon, Pts: square(-1e5, -1e5, 1e5, 1e5)}, 1600},
		{"circle", drawing.Shape{Kind: drawing.Circle, Size: 1, Pts: []float64{0.3, -0.2}}, 100 * math.Pi},
		{"line with round ends", drawing.Shape{Kind: drawing.Polyline, Size: 0.4, Pts: []float64{-1, 0, 1, 0}}, 80 + 4*math.Pi},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.shape.Paint = drawing.Wall
			if got := covered(flat(t, test.shape), drawing.Wall); math.Abs(got-test.want) > 1.5 { // 256 levels, 1/64 pixel
				t.Errorf("covers %v pixels, want %v", got, test.want)
			}
		})
	}
}

// The edges of neighbours of the same paint do not show, whichever way they turn.
func TestNoSeams(t *testing.T) {
	left, right := square(-1, -1, 0.033, 1), square(0.033, -1, 1, 1)
	slices.Reverse(right) // y before x
	for i := 0; i < len(right); i += 2 {
		right[i], right[i+1] = right[i+1], right[i]
	}
	img := flat(t, drawing.Shape{Kind: drawing.Polygon, Paint: drawing.Wall, Pts: left}, drawing.Shape{Kind: drawing.Polygon, Paint: drawing.Wall, Pts: right})
	for x := 11; x < 29; x++ {
		if got, want := img.RGBAAt(x, 20), draw.Theme()[drawing.Wall]; got != want {
			t.Errorf("pixel %d is %v, want %v", x, got, want)
		}
	}
}

// Letters stand in the middle, upright: an L has its bar at the bottom.
func TestText(t *testing.T) {
	img := flat(t, drawing.Shape{Kind: drawing.Text, Paint: drawing.Wall, Size: 3, Pts: []float64{0, 0}, Text: "L"})
	var upper, lower float64
	for y := range 40 {
		for x := range 40 {
			if img.RGBAAt(x, y) == draw.Theme()[drawing.Wall] {
				if y < 20 {
					upper++
				} else {
					lower++
				}
			}
		}
	}
	if upper < 20 || lower < upper*1.2 {
		t.Errorf("%v pixels above the middle, %v below", upper, lower)
	}
	solid(t, ahead, drawing.Shape{Kind: drawing.Text, Paint: drawing.Ink, Size: 1, Pts: []float64{0, 0, 0}, Text: "\u4e00"}) // no such letter
}

// extent returns the rectangle of the pixels that differ between two pictures.
func extent(a, b *image.RGBA) (box image.Rectangle) {
	for y := range a.Rect.Dy() {
		for x := range a.Rect.Dx() {
			if a.RGBAAt(x, y) != b.RGBAAt(x, y) {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

// At the centre of the view a unit is 20 pixels; twice as far away it is 10.
func TestPerspective(t *testing.T) {
	empty := solid(t, ahead)
	ball := func(x, y, z, r float64) drawing.Shape {
		return drawing.Shape{Kind: drawing.Ball, Paint: drawing.Agent, Size: r, Pts: []float64{x, y, z}}
	}
	for _, test := range []struct {
		name  string
		shape drawing.Shape
		want  image.Rectangle
	}{
		{"in the middle", ball(0, 0, 0, 1), image.Rect(20, 20, 60, 60)},
		{"to the right", ball(1, 0, 0, 0.5), image.Rect(50, 30, 70, 50)},
		{"up", ball(0, 0, 1, 0.5), image.Rect(30, 10, 50, 30)},
		{"twice as far", ball(0, 4, 0, 1), image.Rect(30, 30, 50, 50)},
		{"behind the eye", ball(0, -6, 0, 1), image.Rectangle{}},
		{"a capsule", drawing.Shape{Kind: drawing.Capsule, Paint: drawing.Agent, Size: 0.25, Pts: []float64{-1, 0, 0, 1, 0, 0}}, image.Rect(15, 35, 65, 45)},
		{"a box", drawing.Shape{Kind: drawing.Box, Paint: drawing.Wall, Pts: []float64{0, 0.5, 0, 1, 0.5, 0, 0, 1, 0, 0, 0.5, 1}}, image.Rect(20, 20, 60, 60)},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := extent(empty, solid(t, ahead, test.shape))
			want := test.want
			if !want.Empty() {
				want = want.Inset(-1) // the outline is a pixel wide, half of it outside
			}
			if got != want {
				t.Errorf("covers %v, want %v", got, want)
			}
		})
	}
}

// Of two bodies the nearer hides the other, in whatever order they come.
func TestHiding(t *testing.T) {
	at := func(k drawing.ShapeKind, p drawing.Paint, y float64) drawing.Shape {
		s := drawing.Shape{Kind: k, Paint: p, Size: 0.4, Pts: []float64{0, y, 0}}
		switch k {
		case drawing.Capsule:
			s.Pts = []float64{-1, y, 0, 1, y, 0}
		case drawing.Box:
			s.Pts, s.Size = []float64{0, y, 0, 0.4, y, 0, 0, y + 0.4, 0, 0, y, 0.4}, 0
		default: // a ball
		}
		return s
	}
	blue := func(img *image.RGBA) bool { // the agent's paint, in any shade
		c := img.RGBAAt(40, 40)
		return int(c.B) > int(c.R)+40
	}
	kinds := []drawing.ShapeKind{drawing.Ball, drawing.Capsule, drawing.Box}
	for _, a := range kinds {
		for _, b := range kinds {
			for _, y := range []float64{-1, 1} {
				agent, other := at(a, drawing.Agent, y), at(b, drawing.Other, 0)
				for _, img := range []*image.RGBA{solid(t, ahead, agent, other), solid(t, ahead, other, agent)} {
					if got := blue(img); got != (y < 0) {
						t.Errorf("%s at %v before or behind a %s: is seen %v", a, y, b, got)
					}
				}
			}
		}
	}
}

// What is within a ball is not seen; what comes out of it begins there.
func TestEmerging(t *testing.T) {
	ball := drawing.Shape{Kind: drawing.Ball, Paint: drawing.Agent, Size: 1, Pts: []float64{0, 0, 0}}
	leg := func(to float64) drawing.Shape {
		return drawing.Shape{Kind: drawing.Capsule, Paint: drawing.Agent, Size: 0.2, Pts: []float64{0, 0, 0, to, 0, 0}}
	}
	alone := solid(t, ahead, ball)
	if box := extent(alone, solid(t, ahead, ball, leg(0.7))); !box.Empty() {
		t.Errorf("a capsule within a ball is seen at %v", box)
	}
	// It leaves the ball at √(1 - 0.2²), about 59.6 pixels, and ends at 70.
	if box := extent(alone, solid(t, ahead, ball, leg(1.3))); box.Min.X < 58 || box.Min.X > 60 || box.Max.X != 71 {
		t.Errorf("a leg is seen at %v", box)
	}
}

// The floor's squares are where they are in perspective, and above the horizon is
// the sky.
func TestFloor(t *testing.T) {
	camera := drawing.Camera{W: 4, H: 4, Z: 1, Distance: 4, Azimuth: math.Pi / 2}
	img := solid(t, camera, drawing.Shape{Kind: drawing.Checker, Paint: drawing.Surface, Size: 1, Pts: []float64{0, 0, 0}})
	sky, light := img.RGBAAt(40, 5), draw.Theme()[drawing.Surface]
	if sky == light || sky.G < sky.B {
		t.Errorf("the sky is %v", sky)
	}
	// The eye is at y = -4, 1 above the floor: a point of it at x, y is 80/(4+y)
	// pixels below the middle and x·80/(4+y) to the right of it.
	for _, test := range []struct {
		x, y float64
		dark bool // one coordinate of its square is odd
	}{{0.5, -1.5, false}, {-0.5, -1.5, true}, {0.5, -0.5, true}, {-0.5, -0.5, false}} {
		at := image.Pt(int(40+80*test.x/(4+test.y)), int(40+80/(4+test.y)))
		if got := img.RGBAAt(at.X, at.Y) != light; got != test.dark {
			t.Errorf("the square at %v, %v, pixel %v, is dark: %v, want %v", test.x, test.y, at, got, test.dark)
		}
	}
}

// A trail is where the shape has been, older parts fainter.
func TestTrails(t *testing.T) {
	walk := func(s float64) []drawing.Shape {
		return []drawing.Shape{{Kind: drawing.Circle, Paint: drawing.Wall, Size: 0.1, Pts: []float64{-1.5 + 0.3*s, 0}, Trail: true}}
	}
	w := &world{scene: drawing.Scene{Camera: drawing.Camera{W: 4, H: 4}}, moving: walk}
	p := w.painter(t, 10)
	img := drawn(p, 200, 10)
	older, newer, never := img.RGBAAt(35, 100), img.RGBAAt(165, 100), img.RGBAAt(100, 90)
	if !(newer.R < older.R && older.R < never.R) {
		t.Errorf("red of an old part of the trail is %d, of a new one %d, beside it %d", older.R, newer.R, never.R)
	}
	if got := drawn(p, 200, 2).RGBAAt(165, 100); got != never {
		t.Errorf("the trail is where the shape comes later: %v", got)
	}
}

// A frame looks the same whatever was drawn before; one before the first or
// behind the last is that one.
func TestDraw(t *testing.T) {
	p := painter(t, drawtest.Walker(3))
	first, last := drawn(p, 64, 0), drawn(p, 64, 15)
	if box := extent(first, last); box.Empty() {
		t.Error("nothing moves")
	}
	for _, test := range []struct {
		frame float64
		want  *image.RGBA
	}{{-1, first}, {15, last}, {0, first}, {99, last}} {
		if box := extent(test.want, drawn(p, 64, test.frame)); !box.Empty() {
			t.Errorf("frame %v differs at %v", test.frame, box)
		}
	}
	for i := 3; i < len(last.Pix); i += 4 {
		if last.Pix[i] != 255 {
			t.Fatalf("a pixel has the opacity %d", last.Pix[i])
		}
	}
}

func TestSize(t *testing.T) {
	p := painter(t, drawtest.Walker(0)) // 4:3
	for _, test := range []struct{ width, height, w, h int }{
		{480, 360, 480, 360},
		{480, 1000, 480, 360},
		{1000, 361, 480, 360},
		{101, 1000, 100, 74},
		{1, 1, 2, 2},
	} {
		if w, h := p.Size(test.width, test.height); w != test.w || h != test.h {
			t.Errorf("within %dx%d: %dx%d, want %dx%d", test.width, test.height, w, h, test.w, test.h)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	c := must.Get(clip.Decode(drawtest.Walker(40)))(b)
	p, img := draw.New(c), image.NewRGBA(image.Rect(0, 0, 480, 360))
	k := 0
	for b.Loop() {
		p.Draw(img, float64(k%200))
		k++
	}
}
