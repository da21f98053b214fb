package clip

import (
	"bytes"
	"compress/flate"
	"fmt"
	"image"
	"io"
	"slices"

	"tiebreak/internal/idrl"

	"golang.org/x/image/draw"
)

// Sizes of looks.
const (
	mostLooks = 6  // moments
	lookSide  = 32 // cells of the longer side
)

// lookSize returns the cells of a look at pictures of a size.
func lookSize(w, h int) image.Point {
	side := func(n int) int { return max(1, (n*lookSide+max(w, h)/2)/max(w, h)) }
	return image.Pt(side(w), side(h))
}

// LookFrames returns the frames of the looks at a clip of n frames: at most six, evenly spaced,
// including the first and the last.
func LookFrames(n int) []int {
	m := min(n, mostLooks)
	out := make([]int, m)
	for i := range out {
		if m > 1 {
			out[i] = i * (n - 1) / (m - 1)
		}
	}
	return out
}

// packLooks returns looks at the frames of a clip that picture returns, deflated.
func packLooks(n int, size image.Point, picture func(frame int) (image.Image, error)) ([]byte, error) {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		panic(err) // of an unknown level
	}
	for _, frame := range LookFrames(n) {
		p, err := picture(frame)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(look(p, size)); err != nil {
			return nil, fmt.Errorf("deflate: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("deflate: %w", err)
	}
	return out.Bytes(), nil
}

// look returns the mean colours of the cells of a picture, row by row: red, green, blue.
func look(p image.Image, size image.Point) []byte {
	small := image.NewRGBA(image.Rectangle{Max: size})
	draw.BiLinear.Scale(small, small.Rect, p, p.Bounds(), draw.Src, nil) // it weighs all pixels where it shrinks
	out := make([]byte, 0, 3*size.X*size.Y)
	for i := 0; i < len(small.Pix); i += 4 {
		out = append(out, small.Pix[i:i+3]...)
	}
	return out
}

// Looks returns a coarse look at each of the moments LookFrames(Header.Frames) of a clip of
// pictures: the mean red, green and blue of each cell. There are none of clips of scenes, and
// of clips that were encoded before there were looks. It returns an error of kind Invalid if the
// header holds other bytes.
func (c *Clip) Looks() ([][]byte, error) {
	h := &c.Header
	if len(h.Look) == 0 {
		return nil, nil
	}
	cells := lookSize(int(h.W), int(h.H))
	n, m := 3*cells.X*cells.Y, len(LookFrames(h.Frames))
	all, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(h.Look)), int64(n*m)+1))
	if err != nil || len(all) != n*m {
		return nil, idrl.Errorf(idrl.Invalid, "clip of pictures has looks of %d bytes, not %d: %v", len(all), n*m, err)
	}
	out := make([][]byte, m)
	for i := range out {
		out[i] = all[i*n : (i+1)*n]
	}
	return out, nil
}

// WithoutLooks returns the bytes of an encoded clip without its looks, which follow from the rest.
// The names of clips are hashes of these bytes, so that clips from before there were looks keep
// their names. For clips of scenes, and if b is not a clip, it is b.
func WithoutLooks(b []byte) []byte {
	if !bytes.HasPrefix(b, []byte(footageMagic)) {
		return b
	}
	c, err := Decode(b)
	if err != nil {
		return b
	}
	c.Header.Look = nil
	out, err := packFootage(&c.Header, slices.Concat(c.Pictures, c.Videos))
	if err != nil {
		return b
	}
	return out
}
