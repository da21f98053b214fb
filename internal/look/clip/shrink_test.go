package clip

import (
	"crypto/sha256"
	"image"
	"image/color"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// forms returns pictures of several forms whose pixels are random, not all of them opaque, and that begin elsewhere than at 0.
func forms(w, h int) []image.Image {
	at, r := image.Rect(3, 5, 3+w, 5+h), rand.New(rand.NewPCG(1, 2))
	gray, rgba, nrgba, deep := image.NewGray(at), image.NewRGBA(at), image.NewNRGBA(at), image.NewNRGBA64(at)
	film := image.NewYCbCr(at, image.YCbCrSubsampleRatio420)
	for _, pix := range [][]byte{gray.Pix, rgba.Pix, nrgba.Pix, deep.Pix, film.Y, film.Cb, film.Cr} {
		for i := range pix {
			pix[i] = byte(r.Uint32())
		}
	}
	for i := 3; i < len(rgba.Pix); i += 4 {
		rgba.Pix[i] = 255
	}
	few := image.NewPaletted(at, color.Palette{color.White, color.Gray{50}, color.NRGBA{200, 0, 0, 90}})
	for i := range few.Pix {
		few.Pix[i] = byte(r.IntN(3))
	}
	return []image.Image{gray, rgba, nrgba, deep, film, few}
}

// A picture that is made smaller a band at a time is, to the byte, what the library makes of the whole: the names of clips
// are hashes of it.
func TestReduceIsTheLibrarys(t *testing.T) {
	for _, test := range []struct{ from, to image.Point }{
		{image.Pt(61, 97), image.Pt(13, 20)},
		{image.Pt(200, 32), image.Pt(99, 15)},
		{image.Pt(70, 33), image.Pt(34, 33)},
		{image.Pt(300, 10), image.Pt(8, 8)},
		{image.Pt(40, 30), image.Pt(25, 19)}, // not less than half
		{image.Pt(40, 30), image.Pt(40, 30)},
	} {
		for _, p := range forms(test.from.X, test.from.Y) {
			whole := opaque(p)
			got, sum := reduce(p, test.to)
			if want := shrink(whole, test.to); got.Rect != want.Rect || !slices.Equal(got.Pix, want.Pix) {
				t.Errorf("%T of %v to %v is another picture", p, test.from, test.to)
			}
			if sum != sha256.Sum256(whole.Pix) {
				t.Errorf("%T of %v: another hash", p, test.from)
			}
		}
	}
}

// A large picture is made smaller with much less memory than it has.
func TestReduceInBands(t *testing.T) {
	p := image.NewNRGBA(image.Rect(0, 0, 4096, 1024)) // 16 MB
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	reduce(p, image.Pt(480, 120))
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
		t.Errorf("it took %d KB", took>>10)
	}
}

// A clip of very many pictures, of which some are equal, is that of the pictures that differ, whether they are images of
// their own or not, and each is decoded when it is needed.
func TestUndecodedPictures(t *testing.T) {
	const n = 130 // so many of 480x480 are stored smaller
	of := func(shade int) *image.Gray {
		p := image.NewGray(image.Rect(0, 0, 480, 480))
		p.Pix[0] = uint8(shade) //nolint:gosec // less than 256
		return p
	}
	decoded := 0
	var plain, given []image.Image
	for k := range n {
		shade := k % 110
		plain = append(plain, of(shade))
		given = append(given, &Undecoded{Size: image.Pt(480, 480), Decode: func() (image.Image, error) { decoded++; return of(shade), nil }})
	}
	var clips [3][]byte
	for k, list := range [][]image.Image{plain, given, slices.Concat(plain[:110], plain[:20])} {
		var err error
		if clips[k], err = EncodeFootage(Footage{Env: "e", Steps: n - 1, FrameSec: 1, Playback: 1, Phi: []float64{1}, Pictures: list}); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(clips[0], clips[1]) || !slices.Equal(clips[0], clips[2]) {
		t.Error("the clips differ")
	}
	if decoded != 2*n {
		t.Errorf("%d pictures are decoded %d times", n, decoded)
	}
	wrong := &Undecoded{Size: image.Pt(480, 480), Decode: func() (image.Image, error) { return image.NewGray(image.Rect(0, 0, 9, 9)), nil }}
	if _, err := EncodeFootage(Footage{Env: "e", FrameSec: 1, Playback: 1, Phi: []float64{1}, Pictures: []image.Image{wrong}}); err == nil {
		t.Error("a picture of another size than its header says is taken")
	}
}
