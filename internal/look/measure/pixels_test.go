package measure_test

import (
	"image"
	"image/color"
	stddraw "image/draw"
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/draw"
	"tiebreak/internal/look/measure"
	"tiebreak/internal/plan/solver"
)

// shot returns the view of a clip of pictures, which lasts two seconds unless it is of one picture.
func shot(t testing.TB, pictures ...image.Image) *measure.View {
	t.Helper()
	f := clip.Footage{Env: "world", Steps: len(pictures) - 1, FrameSec: 2 / float64(max(1, len(pictures)-1)), Playback: 1, Phi: []float64{0}, Pictures: pictures}
	b := must.Get(clip.EncodeFootage(f))(t)
	of := must.Get(measure.Of([]idrl.Clip{{Media: b}}))(t)
	return of[0]
}

// A court is a picture of 480×360 pixels with a box of a size at (x, y); noisy pictures are
// stored as JPEG.
func court(size, x, y int, noisy bool) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, 480, 360))
	stddraw.Draw(img, img.Rect, image.NewUniform(color.RGBA{90, 120, 90, 255}), image.Point{}, stddraw.Src)
	stddraw.Draw(img, image.Rect(x, y, x+size, y+size), image.NewUniform(color.RGBA{230, 230, 230, 255}), image.Point{}, stddraw.Src)
	if noise := rng.New(uint64(x), "noise", uint64(y)); noisy {
		for i := range img.Pix {
			if i%4 < 3 {
				img.Pix[i] = uint8(max(0, min(255, int(img.Pix[i])+noise.IntN(9)-4)))
			}
		}
	}
	return img
}

// walk returns twenty pictures of a box that goes so many pixels to the right from (x, y).
func walk(size, x, y, way int, noisy bool) (out []image.Image) {
	for i := range 20 {
		out = append(out, court(size, x+way*i/19, y, noisy))
	}
	return out
}

// What is hardly seen counts as still, or as alike; what is seen does not, also where it is small, and
// noise is not seen.
func TestPixels(t *testing.T) {
	for _, test := range []struct {
		name         string
		a, b         []image.Image
		still, alike bool // a; a and b
		together     bool
	}{
		{"nothing moves", walk(60, 200, 150, 0, false), walk(60, 200, 150, 0, false), true, true, true},
		{"nothing moves but noise", walk(60, 200, 150, 0, true), walk(60, 201, 150, 0, true), true, true, false},
		{"a way of two pixels", walk(60, 200, 150, 2, false), walk(60, 200, 150, 1, false), true, true, true},
		{"the same walk with other noise", walk(60, 100, 150, 200, true), walk(60, 101, 150, 200, true), false, true, false},
		{"a walk and a stand", walk(60, 100, 150, 200, false), walk(60, 100, 150, 0, false), false, false, true},
		{"walks of other lengths", walk(60, 100, 150, 200, false), walk(60, 100, 150, 120, false), false, false, true},
		{"walks at other places", walk(60, 100, 150, 60, false), walk(60, 100, 220, 60, false), false, false, false},
		{"a small ball", walk(8, 100, 150, 200, false), walk(8, 300, 50, -200, false), false, false, false},
		{"still, at other places", walk(60, 100, 150, 0, false), walk(60, 300, 150, 0, false), true, false, false},
	} {
		a, b := shot(t, test.a...), shot(t, test.b...)
		p, err := measure.Compare(a, b)
		if err != nil {
			t.Fatal(err)
		}
		alike, err := measure.Alike(a, b)
		if a.Still() != test.still || p.Alike() != test.alike || alike != test.alike || err != nil {
			t.Errorf("%s: still %v, alike %v; motion %+v, %+v", test.name, a.Still(), p.Alike(), a.Motion(), p)
		}
		if p.Together() != test.together && !(test.name == "nothing moves but noise" || test.name == "the same walk with other noise") {
			t.Errorf("%s: together %v", test.name, p.Together())
		}
		if answerable, err := measure.Answerable(a, b); answerable != p.Answerable() || err != nil {
			t.Errorf("%s: answerable %v and %v, %v", test.name, answerable, p.Answerable(), err)
		}
		if least := 0.5; test.name == "a small ball" && p.Apart() != least {
			t.Errorf("%s: %v apart, want %v", test.name, p.Apart(), least)
		}
		if q, err := measure.Compare(b, a); err != nil || math.Abs(q.Pose-p.Pose) > 1e-12 || q.Place != p.Place {
			t.Errorf("%s: the other way round %+v, %v", test.name, q, err)
		}
	}
}

// A box that goes on by its width in a second has the motion 1, and two that are half their width
// apart are half a body size apart.
func TestPixelsAreInBodySizes(t *testing.T) {
	a := shot(t, walk(60, 100, 150, 120, false)...)
	if m := a.Motion().World; math.Abs(m-1) > 0.25 {
		t.Errorf("motion %v, want about 1", m)
	}
	if math.Abs(a.Size()-60.*60/480/360) > 0.005 || a.Seconds() != 2 {
		t.Errorf("size %v, %v s", a.Size(), a.Seconds())
	}
	p, err := measure.Compare(a, shot(t, walk(60, 130, 150, 120, false)...))
	if err != nil || math.Abs(p.Pose-0.5) > 0.12 || math.Abs(p.Place-0.5) > 0.12 || !p.Easy() {
		t.Errorf("%+v, %v", p, err)
	}
	one, other := shot(t, court(60, 100, 150, false)), shot(t, court(60, 300, 150, false))
	if p, err := measure.Compare(one, other); err != nil || !one.Moment() || p.Alike() || !p.Answerable() {
		t.Errorf("two moments: %+v, %v", p, err)
	}
	if p, err := measure.Compare(one, one); err != nil || p.Answerable() {
		t.Errorf("one moment: %+v, %v", p, err)
	}
}

// Pictures and scenes are not compared, nor pictures of other shapes, and pictures without looks are
// not measured.
func TestPixelsThatCannotBeCompared(t *testing.T) {
	a := shot(t, walk(60, 100, 150, 0, false)...)
	b := shot(t, image.NewRGBA(image.Rect(0, 0, 360, 360)), image.NewRGBA(image.Rect(0, 0, 360, 360)))
	if _, err := measure.Compare(a, b); idrl.KindOf(err) != idrl.Invalid {
		t.Error(err)
	}
	media := must.Get(clip.EncodeFootage(clip.Footage{Env: "world", FrameSec: 1, Playback: 1, Pictures: []image.Image{court(60, 1, 1, false)}}))(t)
	c := must.Get(clip.Decode(media))(t)
	c.Header.Look = nil
	if _, err := measure.New(c); idrl.KindOf(err) != idrl.Invalid {
		t.Error(err)
	}
}

// painted returns the views of a clip as a scene, and as pictures of it. Only the pictures that are
// looked at are painted.
func painted(t testing.TB, env idrl.Environment, shown idrl.Clip) (scene, pixels *measure.View) {
	t.Helper()
	media, err := clip.Encode(env, shown)
	if err != nil {
		t.Fatal(err)
	}
	c, err := clip.Decode(media)
	if err != nil {
		t.Fatal(err)
	}
	h, painter := &c.Header, draw.New(c)
	f := clip.Footage{Env: h.Env, Steps: h.Steps, Sub: h.Sub, FrameSec: h.FrameSec, Playback: h.Playback, Phi: h.Phi, Pictures: make([]image.Image, len(c.Frames))}
	w, height := painter.Size(240, 180)
	next := 0
	for _, frame := range clip.LookFrames(len(c.Frames)) {
		img := image.NewRGBA(image.Rect(0, 0, w, height))
		painter.Draw(img, float64(frame))
		for ; next <= frame; next++ {
			f.Pictures[next] = img
		}
	}
	if media, err = clip.EncodeFootage(f); err != nil {
		t.Fatal(err)
	}
	of, err := measure.Of([]idrl.Clip{{Media: media}})
	if err != nil {
		t.Fatal(err)
	}
	if scene, err = measure.New(c); err != nil {
		t.Fatal(err)
	}
	return scene, of[0]
}

// Of clips of Driver that are shown as pictures, those that people can answer as scenes are answerable
// as pictures, and a clip is alike itself. Where scenes are far apart, so are pictures.
func TestPixelsAgreeWithScenes(t *testing.T) {
	env := environment(t, "driver")
	drafts := rng.New(7, "pool", 0)
	var scenes, pixels []*measure.View
	for range 8 {
		p := must.Get(solver.Draft{}.Solve(t.Context(), idrl.SolveTask{Env: env, Theta: make([]float64, env.Spec().FeatureDim())}, drafts))(t)
		tr := record(env, p, 0)
		scene, view := painted(t, env, idrl.Segment(tr, 0, tr.Len()))
		scenes, pixels = append(scenes, scene), append(pixels, view)
	}
	var far, near []float64
	for i := range scenes {
		for j := range i + 1 {
			of := must.Get(measure.Compare(scenes[j], scenes[i]))(t)
			seen := must.Get(measure.Compare(pixels[j], pixels[i]))(t)
			if of.Answerable() != seen.Answerable() || (i == j) != seen.Alike() {
				t.Errorf("clips %d and %d: %+v as scenes, %+v as pictures", j, i, of, seen)
			}
			if of.Easy() {
				far = append(far, seen.Pose)
			} else {
				near = append(near, seen.Pose)
			}
		}
	}
	if slices.Min(far) <= slices.Max(near) {
		t.Errorf("easy pairs are %.2f apart as pictures, others %.2f", far, near)
	}
}
