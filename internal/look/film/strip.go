package film

import (
	"image"
	"image/color"
	stddraw "image/draw"
	"image/png"
	"io"

	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/draw"
)

// stripGap is the space between two frames of a strip, pixels.
const stripGap = 4

// Strip returns n frames of a clip at equal distances, including the first and the last, side by
// side; each fits in a box of width×height pixels. Between them it is transparent. A still has one
// frame.
func Strip(c *clip.Clip, n, width, height int) *image.RGBA {
	p := draw.New(c)
	w, h := p.Size(width, height)
	if len(c.Frames) == 1 {
		n = 1
	}
	all, one := image.NewRGBA(image.Rect(0, 0, n*(w+stripGap)-stripGap, h)), image.NewRGBA(image.Rect(0, 0, w, h))
	for k := range n {
		p.Draw(one, float64(k)*float64(len(c.Frames)-1)/float64(max(1, n-1)))
		stddraw.Draw(all, one.Bounds().Add(image.Pt(k*(w+stripGap), 0)), one, image.Point{}, stddraw.Src)
	}
	return all
}

// stripColours is the number of colours of a strip in a file.
const stripColours = 64

// WriteStrip writes a strip as a PNG of a few colours, a quarter as large as with all of them.
func WriteStrip(w io.Writer, strip *image.RGBA) error {
	h := newHistogram()
	h.add(strip)
	q := newQuantizer(h, stripColours)
	out := image.NewPaletted(strip.Bounds(), append(q.palette, color.RGBA{}))
	q.paint(out, strip)
	for i := range out.Pix {
		if strip.Pix[4*i+3] == 0 {
			out.Pix[i] = uint8(len(out.Palette) - 1)
		}
	}
	return (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(w, out)
}
