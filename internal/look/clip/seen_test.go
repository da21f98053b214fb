package clip

import (
	"image"
	"image/color"
	"image/draw"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/drawing"
)

func blank(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	return img
}

// dot is a wide white field with a black figure of 6x4 pixels, as in environments whose figure is tiny.
func dot(x, y int) *image.RGBA {
	img := blank(600, 400)
	for k := range 24 {
		img.Set(x+k%6, y+k/6, color.Black)
	}
	return img
}

// What is seen of a clip has the figure of each of its pictures in it, exactly; it is part of the header only
// where it is asked for.
func TestSeen(t *testing.T) {
	f := footageOf(dot(300, 200), dot(330, 190))
	if c, err := Decode(encodeFootage(t, f)); err != nil || c.Header.Seen != nil {
		t.Fatalf("seen %v, %v; nothing was sought", c.Header.Seen, err)
	}
	f.Seek = true
	c := must.Get(Decode(encodeFootage(t, f)))(t)
	if want := (drawing.Part{300. / 600, 190. / 400, 336. / 600, 204. / 400}); *c.Header.Seen != want {
		t.Errorf("seen %v, want %v", *c.Header.Seen, want)
	}
	if c.Header.W != 600 { // a clip without Seek has 480
		t.Errorf("stored %v pixels wide: fewer than there are to see", c.Header.W)
	}
}

// What is small is stored with more pixels, if there are so many.
func TestSizeOfWhatIsSought(t *testing.T) {
	for _, test := range []struct {
		name  string
		whole image.Image
		want  float64
	}{
		{"a small figure", enlarged(dot(300, 200)), 960},
		{"colours all over", noise(1200, 400, 1), 480},
	} {
		f := footageOf(test.whole, test.whole)
		f.Seek = true
		if c, err := Decode(encodeFootage(t, f)); err != nil || c.Header.W != test.want {
			t.Errorf("%s: %v pixels wide, %v; want %v", test.name, c.Header.W, err, test.want)
		}
	}
}

// enlarged is a picture with white to its right and below, twice as wide and high.
func enlarged(img *image.RGBA) *image.RGBA {
	out := blank(2*img.Rect.Max.X, 2*img.Rect.Max.Y)
	draw.Draw(out, img.Rect, img, image.Point{}, draw.Src)
	return out
}

func TestSeenOfOthers(t *testing.T) {
	corners := dot(0, 0)
	corners.Set(599, 399, color.Black)
	for _, test := range []struct {
		name     string
		pictures reel
		want     drawing.Part
	}{
		{"nothing but the background", reel{blank(80, 40)}, drawing.Whole()},
		{"two corners", reel{corners}, drawing.Whole()},
		{"a picture that is full of colours", reel{noise(60, 40, 1)}, drawing.Whole()},
		{"one with a figure, and one without", reel{dot(60, 40), blank(600, 400)}, drawing.Part{0.1, 0.1, 66. / 600, 44. / 400}},
	} {
		if got := seenIn(test.pictures); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestAround(t *testing.T) {
	a, b := drawing.Part{0.1, 0.2, 0.3, 0.4}, drawing.Part{0.2, 0.1, 0.25, 0.5}
	if got := a.Around(b); got != (drawing.Part{0.1, 0.1, 0.3, 0.5}) || got != b.Around(a) {
		t.Errorf("around both: %v", got)
	}
	if got := (drawing.Part{}).Around(a); got != a || a.Around(drawing.Part{}) != a {
		t.Errorf("around one: %v", got)
	}
}

// A header from elsewhere whose part is none is refused.
func TestSeenIsChecked(t *testing.T) {
	f := footageOf(dot(300, 200), dot(330, 190))
	f.Seek = true
	c := must.Get(Decode(encodeFootage(t, f)))(t)
	for _, bad := range []drawing.Part{{}, {0.5, 0, 0.4, 1}, {0, 0, 1, 1.1}, {-0.1, 0, 1, 1}} {
		h := c.Header
		h.Seen = &bad
		b := must.Get(packFootage(&h, slices.Clone(c.Pictures)))(t)
		if _, err := Decode(b); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}
