package clip

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

// square is a picture in one colour with a dot at x.
func square(w, h, x int, c color.Color) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		img.Set(i%w, i/w, c)
	}
	img.Set(x, h/2, color.Black)
	return img
}

// noise is a picture of more than 256 colours.
func noise(w, h int, seed uint64) *image.RGBA {
	img, r := image.NewRGBA(image.Rect(0, 0, w, h)), rand.New(rand.NewPCG(seed, 1))
	for i := range img.Pix {
		img.Pix[i] = uint8(r.IntN(256)) | 255*uint8(i%4/3)
	}
	return img
}

func footageOf(pictures ...image.Image) Footage {
	return Footage{Env: "cam", Steps: len(pictures) - 1, FrameSec: 0.5, Playback: 2, Phi: []float64{1.25}, Note: "Look.", Pictures: pictures}
}

func encodeFootage(t testing.TB, f Footage) []byte {
	t.Helper()
	b := must.Get(EncodeFootage(f))(t)
	return b
}

func TestFootageRoundTrip(t *testing.T) {
	red, blue := square(40, 30, 3, color.RGBA{200, 0, 0, 255}), square(40, 30, 3, color.RGBA{0, 0, 200, 255})
	b := encodeFootage(t, footageOf(red, blue, red, red))
	c := must.Get(Decode(b))(t)
	h := c.Header
	sizes := []Picture{{"png", len(c.Pictures[0])}, {"png", len(c.Pictures[1])}}
	want := Header{
		Version: 3, Env: "cam", Steps: 3, Sub: 1, Frames: 4, FrameSec: 0.5, Playback: 2, Phi: []float64{1.25}, Note: "Look.",
		Unit: 1, W: 40, H: 30, Points: 1, Static: []Shape{}, Moving: []Shape{}, Pictures: sizes, Show: []int{0, 1, 0, 0},
	}
	if diff := cmp.Diff(want, h, cmpopts.IgnoreFields(Header{}, "Look")); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	for i, p := range []*image.RGBA{red, blue, red, red} {
		got, err := c.Picture(i)
		if err != nil || !slices.Equal(opaque(got).Pix, p.Pix) {
			t.Errorf("frame %d is another picture, error %v", i, err)
		}
	}
	if len(c.Frames) != 4 || !bytes.Equal(b, encodeFootage(t, footageOf(red, blue, red, red))) {
		t.Errorf("%d frames, or the same clip encodes to other bytes", len(c.Frames))
	}
}

// counted counts how often its pixels are read.
type counted struct {
	image.Image
	pixels *int
}

func (c counted) At(x, y int) color.Color {
	*c.pixels++
	return c.Image.At(x, y)
}

// uncomparable is an image that can be no key of a map.
type uncomparable struct {
	image.Image
	_ []int
}

// An image that many frames show is copied once, and others that look the same are stored once.
func TestRepeatedPicturesAreCopiedOnce(t *testing.T) {
	red, pixels := square(40, 30, 3, color.RGBA{200, 0, 0, 255}), 0
	frames := slices.Repeat([]image.Image{counted{red, &pixels}}, 1000)
	b := encodeFootage(t, footageOf(append(frames, red, uncomparable{Image: red}, uncomparable{Image: red})...))
	if c, err := Decode(b); err != nil || len(c.Pictures) != 1 || len(c.Frames) != 1003 {
		t.Errorf("%d pictures for %d frames, %v", len(c.Pictures), len(c.Frames), err)
	}
	if pixels != 40*30 {
		t.Errorf("%d pixels of a picture of %d are read", pixels, 40*30)
	}
}

// Looks are the mean colours of cells at moments that are evenly spaced, and the same from a clip that
// is cut of a reel, but for JPEG's rounding. Other bytes in their place are refused.
func TestLooks(t *testing.T) {
	var frames []image.Image
	reel := NewReel()
	for i := range 21 {
		p := square(320, 240, 0, color.Gray{uint8(10 * i)})
		if frames = append(frames, p); reel.Add(p, 21) != nil {
			t.Fatal("a picture is not taken in")
		}
	}
	f := Footage{Env: "cam", Steps: 20, FrameSec: 0.1, Playback: 1, Phi: []float64{0}}
	cut := must.Get(reel.Cut(f, 0))(t)
	f.Pictures = frames
	for what, b := range map[string][]byte{"encoded": encodeFootage(t, f), "cut": cut} {
		c, err := Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		looks, err := c.Looks()
		if err != nil || len(looks) != 6 || len(c.Header.Look) > 2000 {
			t.Fatalf("%s: %d looks, %v, in %d bytes", what, len(looks), err, len(c.Header.Look))
		}
		for i, look := range looks {
			if len(look) != 3*32*24 || look[len(look)-1] != uint8(40*i) || look[0] != look[2] {
				t.Errorf("%s: look %d has %d numbers, the last is %d", what, i, len(look), look[len(look)-1])
			}
		}
		for _, wrong := range [][]byte{c.Header.Look[:9], []byte("looks"), append(slices.Clone(c.Header.Look[:len(c.Header.Look)-1]), 1, 2, 3)} {
			c.Header.Look = wrong
			if _, err := c.Looks(); idrl.KindOf(err) != idrl.Invalid {
				t.Errorf("%s: %d bytes are looks: %v", what, len(wrong), err)
			}
		}
	}
	if !slices.Equal(LookFrames(21), []int{0, 4, 8, 12, 16, 20}) || !slices.Equal(LookFrames(1), []int{0}) || !slices.Equal(LookFrames(3), []int{0, 1, 2}) {
		t.Errorf("moments %v, %v, %v", LookFrames(21), LookFrames(1), LookFrames(3))
	}
}

// What comes from a file is not what is stored: no comment, no profile, nothing behind its end.
func TestFootageIsWrittenAnew(t *testing.T) {
	var file bytes.Buffer
	must.Do(t, png.Encode(&file, noise(20, 20, 1)))
	img := must.Get(ReadPicture(append(file.Bytes(), "<script>alert(1)</script>"...)))(t)
	c := must.Get(Decode(encodeFootage(t, footageOf(img))))(t)
	if c.Header.Pictures[0].Kind != "jpeg" || bytes.Contains(c.Pictures[0], []byte("script")) {
		t.Errorf("a picture is stored as %q with what came with it", c.Header.Pictures[0].Kind)
	}
}

func TestStoredSize(t *testing.T) {
	for _, test := range []struct {
		name string
		size image.Point
		n    int
		want image.Point
	}{
		{"small", image.Pt(320, 240), 2, image.Pt(320, 240)},
		{"wide", image.Pt(960, 480), 2, image.Pt(480, 240)},
		{"many", image.Pt(480, 480), 140, image.Pt(414, 414)}, // √(24e6/140) = 414.04
		{"very many", image.Pt(4096, 4096), maxFrames, image.Pt(48, 48)},
		{"thin", image.Pt(4096, 10), 1, image.Pt(480, 8)},
	} {
		if got := storedSize(test.size, test.n, maxPictureSide); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	c, err := Decode(encodeFootage(t, footageOf(square(960, 480, 3, color.White))))
	if err != nil || c.Header.W != 480 || c.Header.H != 240 {
		t.Errorf("stored at %vx%v, error %v", c.Header.W, c.Header.H, err)
	}
}

// Pictures of noise are the largest there are: they are stored at a lower quality.
func TestFootageAimsAtASize(t *testing.T) {
	var all []image.Image
	for i := range 40 {
		all = append(all, noise(160, 120, uint64(i)))
	}
	best := reel{}.size(t, all, 85)
	if got := len(encodeFootage(t, footageOf(all...))); got > aimBytes+2000 || best <= aimBytes {
		t.Errorf("%d bytes, at the best quality %d; want at most %d", got, best, aimBytes)
	}
}

func (reel) size(t *testing.T, pictures []image.Image, quality int) int {
	t.Helper()
	h := &Header{}
	r := must.Get(develop(h, Footage{Pictures: pictures}, pictures[0].Bounds().Size()))(t)
	stored := must.Get(r.encode(h, quality))(t)
	return total(stored)
}

func TestEncodeFootageRefuses(t *testing.T) {
	p := square(40, 30, 1, color.White)
	for _, test := range []struct {
		name   string
		change func(*Footage)
		want   string
	}{
		{"no pictures", func(f *Footage) { f.Pictures = nil }, "needs 2"},
		{"one too few", func(f *Footage) { f.Steps = 2 }, "needs 3"},
		{"substeps that do not fit", func(f *Footage) { f.Sub = 2 }, "needs 3"},
		{"two sizes", func(f *Footage) { f.Pictures[1] = square(41, 30, 1, color.White) }, "41x30"},
		{"too small", func(f *Footage) {
			f.Pictures = []image.Image{square(7, 30, 1, color.White), square(7, 30, 1, color.White)}
		}, "7x30"},
		{"too long", func(f *Footage) {
			f.Steps = maxFrames
			f.Pictures = slices.Repeat([]image.Image{p}, maxFrames+1)
		}, "limit is 10000"},
		{"no duration", func(f *Footage) { f.FrameSec = 0 }, "not positive"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := footageOf(p, p)
			test.change(&f)
			if _, err := EncodeFootage(f); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want kind Invalid with %q", err, test.want)
			}
		})
	}
}

// bomb is a PNG that says it is w×h pixels and ends there.
func bomb(w, h int) []byte {
	var out bytes.Buffer
	_ = png.Encode(&out, image.NewGray(image.Rect(0, 0, w, h)))
	return out.Bytes()[:40]
}

func TestReadPictureRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		b    []byte
		want string
	}{
		{"nothing", nil, "neither PNG nor JPEG"},
		{"a page", []byte("<html>"), "neither PNG nor JPEG"},
		{"half a picture", bomb(20, 20), "cannot be decoded"},
		{"too many pixels", bomb(5000, 20), "5000x20"},
		{"too many bytes", make([]byte, maxGivenBytes+1), "limit"},
		{"half a JPEG", []byte("\xff\xd8\xff"), "damaged"},
		{"a JPEG of very many scans", append([]byte("\xff\xd8"), bytes.Repeat([]byte("\xff\xda\x00\x08"), 200)...), "200 scans"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := ReadPicture(test.b); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want kind Invalid with %q", err, test.want)
			}
		})
	}
}

func TestDecodeFootageRefuses(t *testing.T) {
	p, q := square(40, 30, 1, color.White), square(40, 30, 2, color.White)
	good := encodeFootage(t, footageOf(p, q))
	n := int(binary.LittleEndian.Uint32(good[4:]))
	changed := func(change func(*Header)) []byte {
		var h Header
		must.Do(t, json.Unmarshal(good[8:8+n], &h))
		change(&h)
		head := must.Get(json.Marshal(h))(t)
		out := binary.LittleEndian.AppendUint32([]byte(footageMagic), uint32(len(head)))
		return append(append(out, head...), good[8+n:]...)
	}
	must.Get(Decode(changed(func(*Header) {})))(t)
	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing behind the magic", good[:4], "before its header"},
		{"an end within the header", good[:20], "within its header"},
		{"an end within a picture", good[:len(good)-1], "within picture 1"},
		{"bytes behind the pictures", append(slices.Clone(good), 0), "behind its pictures"},
		{"too many bytes", append(slices.Clone(good), make([]byte, maxFootage)...), "limit"},
		{"another version", changed(func(h *Header) { h.Version = 2 }), "version 2"},
		{"a picture that is none", changed(func(h *Header) { h.Show[1] = 2 }), "picture 2 of 2"},
		{"a frame without", changed(func(h *Header) { h.Show = h.Show[:1] }), "of 1 of its 2"},
		{"shapes", changed(func(h *Header) {
			h.Moving = []Shape{{Kind: drawing.Circle, Paint: drawing.Agent, Size: 1, At: []int{0}}}
		}), "shapes"},
		{"another kind", changed(func(h *Header) { h.Pictures[0].Kind = "svg" }), "svg"},
		{"a PNG as JPEG", changed(func(h *Header) { h.Pictures[0].Kind = "jpeg" }), "not a jpeg"},
		{"another size", changed(func(h *Header) { h.W = 41 }), "41x30"},
		{"half pixels", changed(func(h *Header) { h.W = 40.5 }), "40.5"},
		{"a negative length", changed(func(h *Header) { h.Pictures[0].Bytes = -1 }), "-1 bytes"},
		{"too many looks", changed(func(h *Header) { h.Look = make([]byte, maxLook+1) }), "looks of 65537 bytes"},
		{"too many pictures", changed(func(h *Header) { h.Pictures = append(h.Pictures, h.Pictures[0]) }), "3 pictures"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Decode(test.data)
			if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want kind Invalid with %q", err, test.want)
			}
		})
	}
	if _, err := Decode(withHeader(t, Header{
		Version: 2, Steps: 0, Sub: 1, Frames: 1, FrameSec: 1, Playback: 1, Unit: 1, W: 1, H: 1, Points: 1, Show: []int{0},
	}, 2)); err == nil {
		t.Error("a clip of scenes with pictures is accepted")
	}
}

// camera is a world that shows itself in pictures.
type camera struct {
	world
	err error
}

func (c *camera) Draw() {} // hides that world can draw

func (c *camera) Picture() (image.Image, error) {
	return square(40, 30, int(c.x), color.White), c.err
}

func TestEncodePictures(t *testing.T) {
	b := must.Get(Encode(&camera{}, walk(3, 5, 3)))(t)
	c := must.Get(Decode(b))(t)
	if !slices.Equal(c.Header.Show, []int{0, 1, 0}) || c.Header.FrameSec != 0.5 || c.Header.Playback != 2 || c.Header.Env != "world" {
		t.Errorf("header %+v", c.Header)
	}
	failed := idrl.Errorf(idrl.Unavailable, "no light")
	if _, err := Encode(&camera{err: failed}, walk(3, 5)); !errors.Is(err, failed) {
		t.Errorf("error %v, want that of the picture", err)
	}
}
