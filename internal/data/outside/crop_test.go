package outside

import (
	"image"
	"image/color"
	"strings"
	"testing"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// spotted is a white picture with a black dot, of a kind that has parts or not.
func spotted(x, y int, parts bool) image.Image {
	img := image.NewGray(image.Rect(3, 5, 63, 35)) // its bounds need not begin at 0
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	img.Set(3+x, 5+y, color.Black)
	if parts {
		return img
	}
	return struct{ image.Image }{img}
}

// What is shown of a picture is the view, wherever the picture's numbers of pixels begin.
func TestCrop(t *testing.T) {
	for _, parts := range []bool{false, true} {
		got, err := Crop{20, 10, 12, 9}.of(spotted(25, 14, parts))
		if err != nil {
			t.Fatal(err)
		}
		b := got.Bounds()
		if b.Size() != image.Pt(12, 9) {
			t.Errorf("%v pixels, want 12x9", b.Size())
		}
		for y := range 9 {
			for x := range 12 {
				if r, _, _, _ := got.At(b.Min.X+x, b.Min.Y+y).RGBA(); (r == 0) != (x == 5 && y == 4) {
					t.Errorf("pixel %d, %d is %v", x, y, r)
				}
			}
		}
	}
	whole := spotted(1, 1, true)
	if got, err := Crop(nil).of(whole); got != whole || err != nil {
		t.Errorf("without a view %v is shown, %v", got, err)
	}
	if _, err := (Crop{50, 0, 12, 9}).of(whole); err == nil {
		t.Error("a view beyond the picture is taken")
	}
}

// moves returns a clip of two steps.
func moves(env idrl.Environment) idrl.Clip {
	keeper := env.(idrl.Snapshotter)
	env.Reset(rng.New(1, "env", 0))
	c := idrl.Clip{ID: "c", Steps: 2, Phi: make([]float64, env.Spec().FeatureDim()), Snapshots: [][]float64{keeper.Snapshot(nil)}}
	for range c.Steps {
		env.Step(idrl.Action{0.5})
		c.Snapshots = append(c.Snapshots, keeper.Snapshot(nil))
	}
	return c
}

// Clips of an environment whose description has no view say where there is something to see.
func TestClipsWithoutAView(t *testing.T) {
	env := start(t, program(t, "picture"))
	b, err := clip.Encode(env, moves(env))
	if err != nil {
		t.Fatal(err)
	}
	c, err := clip.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	// The figure is three pixels wide and two high, in row 14 of 30, and moves along.
	if seen := c.Header.Seen; seen == nil || seen[0] < 0.3 || seen[2] > 0.9 || seen[1] != 14./30 || seen[3] != 16./30 {
		t.Errorf("seen %v of pictures with a figure in the middle", seen)
	}
}

// All clips of an environment show the view of its description, which is part of its version; one that
// is not within its pictures is named.
func TestViewOfADescription(t *testing.T) {
	p := program(t, "picture")
	plain := p.hash(nil)
	p.View = Crop{20, 8, 24, 16}
	if p.hash(nil) == plain {
		t.Error("another view has the same version")
	}
	env := start(t, p)
	b, err := clip.Encode(env, moves(env))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := clip.Decode(b); err != nil || got.Header.W != 24 || got.Header.H != 16 || len(got.Pictures) < 2 || got.Header.Seen != nil {
		t.Errorf("clip of %vx%v pixels and %d pictures, seen %v, %v; want 24x16, shown to its edges", got.Header.W, got.Header.H, len(got.Pictures), got.Header.Seen, err)
	}

	p = program(t, "picture")
	p.View = Crop{40, 8, 24, 16}
	env = start(t, p)
	env.Reset(rng.New(1, "env", 0))
	if _, err := env.(drawing.Pictured).Picture(); idrl.KindOf(err) != idrl.Unavailable || !strings.Contains(err.Error(), "60x30 pixels") {
		t.Errorf("a view beyond the pictures: %v", err)
	}
}
