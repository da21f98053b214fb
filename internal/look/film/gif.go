package film

import (
	"context"
	"image"
	"image/color"
	"image/gif"
	"io"
)

// Browsers take delays of less than 20 ms for 100 ms, and some round those of less
// than 40 ms up, so a frame takes at least 4 ticks of 10 ms.
const (
	gifTicks = 100 // a second
	gifLeast = 4
)

// gifSamples is the number of frames that the colours of a GIF are chosen from.
const gifSamples = 12

// writeGIF writes the film as an endless loop. Pixels that stay as they are are
// transparent, which makes it about half as large.
func (f *Film) writeGIF(ctx context.Context, w io.Writer) error {
	moments := f.moments(gifTicks, gifLeast)
	img := f.frame()
	q, err := f.quantizer(ctx, img, moments)
	if err != nil {
		return err
	}
	palette := append(q.palette, color.RGBA{}) // the last one is transparent
	out := &gif.GIF{Config: image.Config{ColorModel: palette, Width: f.size.X, Height: f.size.Y}}
	if len(moments) == 1 {
		out.LoopCount = -1
	}
	last := image.NewPaletted(img.Bounds(), palette)
	now := image.NewPaletted(img.Bounds(), palette)
	for i, m := range moments {
		if err := ctx.Err(); err != nil {
			return err
		}
		f.Draw(img, m.atSec)
		q.paint(now, img)
		if i == 0 {
			first := image.NewPaletted(img.Bounds(), palette)
			copy(first.Pix, now.Pix)
			out.Image, out.Delay = append(out.Image, first), append(out.Delay, m.ticks)
		} else if changed := changes(last, now); changed != nil {
			out.Image, out.Delay = append(out.Image, changed), append(out.Delay, m.ticks)
		} else {
			out.Delay[len(out.Delay)-1] += m.ticks
		}
		last, now = now, last
	}
	return gif.EncodeAll(w, out)
}

// quantizer returns the one for some of the frames, evenly spaced, and draws on img.
func (f *Film) quantizer(ctx context.Context, img *image.RGBA, moments []moment) (*quantizer, error) {
	h := newHistogram()
	n := min(len(moments), gifSamples)
	for k := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f.Draw(img, moments[k*(len(moments)-1)/max(n-1, 1)].atSec)
		h.add(img)
	}
	return newQuantizer(h, 255), nil
}

// changes returns the smallest rectangle that holds all pixels of now that differ
// from last, with the others transparent, the palette's last colour; nil if there
// is none.
func changes(last, now *image.Paletted) *image.Paletted {
	var box image.Rectangle
	w := now.Rect.Dx()
	for i, v := range now.Pix {
		if v != last.Pix[i] {
			box = box.Union(image.Rect(i%w, i/w, i%w+1, i/w+1))
		}
	}
	if box.Empty() {
		return nil
	}
	out := image.NewPaletted(box, now.Palette)
	transparent := uint8(len(now.Palette) - 1)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			v := now.Pix[y*w+x]
			if v == last.Pix[y*w+x] {
				v = transparent
			}
			out.Pix[out.PixOffset(x, y)] = v
		}
	}
	return out
}
