package film

import (
	"image"
	"image/color"
	"math"
)

// Colours are counted in bins of 4 levels a channel.
const (
	binBits = 6
	bins    = 1 << (3 * binBits)
)

// bin returns that of a colour.
func bin(r, g, b uint8) int {
	const drop = 8 - binBits
	return int(r>>drop)<<(2*binBits) | int(g>>drop)<<binBits | int(b>>drop)
}

// A histogram counts colours.
type histogram struct {
	n   []int64    // pixels in each bin
	sum [][3]int64 // of their channels
}

func newHistogram() *histogram {
	return &histogram{make([]int64, bins), make([][3]int64, bins)}
}

func (h *histogram) add(img *image.RGBA) {
	for i := 0; i < len(img.Pix); i += 4 {
		r, g, b := img.Pix[i], img.Pix[i+1], img.Pix[i+2]
		k := bin(r, g, b)
		h.n[k]++
		s := &h.sum[k]
		s[0] += int64(r)
		s[1] += int64(g)
		s[2] += int64(b)
	}
}

// A shade is the mean colour of n pixels.
type shade struct {
	n float64
	c [3]float64 // 0 to 255
}

// shades returns the colours of the bins that are not empty, in order.
func (h *histogram) shades() []shade {
	var out []shade
	for k, n := range h.n {
		if n > 0 {
			s := shade{n: float64(n)}
			for i := range s.c {
				s.c[i] = float64(h.sum[k][i]) / s.n
			}
			out = append(out, s)
		}
	}
	return out
}

// A box is a set of colours that is replaced by one colour.
type box struct {
	list []shade
	mean [3]float64
	axis int     // channel in which they differ most
	loss float64 // squared differences to the mean in that channel, summed over pixels
}

func newBox(list []shade) box {
	b := box{list: list}
	n := 0.0
	for _, s := range list {
		n += s.n
		for i, v := range s.c {
			b.mean[i] += s.n * v
		}
	}
	for i := range b.mean {
		b.mean[i] /= n
	}
	for i := range b.mean {
		loss := 0.0
		for _, s := range list {
			loss += s.n * (s.c[i] - b.mean[i]) * (s.c[i] - b.mean[i])
		}
		if loss > b.loss {
			b.axis, b.loss = i, loss
		}
	}
	return b
}

// split divides b at its mean. Its loss must not be 0.
func (b box) split() (low, high box) {
	var lower, upper []shade
	for _, s := range b.list {
		if s.c[b.axis] < b.mean[b.axis] {
			lower = append(lower, s)
		} else {
			upper = append(upper, s)
		}
	}
	return newBox(lower), newBox(upper)
}

// A quantizer replaces colours by those of a palette.
type quantizer struct {
	palette color.Palette
	index   []int16 // by bin: of the nearest colour of the palette; -1 where not known yet
}

// newQuantizer chooses at most most colours: again and again the box of colours
// that loses most by having one colour is divided at its mean.
func newQuantizer(h *histogram, most int) *quantizer {
	boxes := []box{newBox(h.shades())}
	for len(boxes) < most {
		worst := 0
		for i, b := range boxes {
			if b.loss > boxes[worst].loss {
				worst = i
			}
		}
		if boxes[worst].loss <= 1e-6 {
			break
		}
		low, high := boxes[worst].split()
		if len(low.list) == 0 || len(high.list) == 0 {
			break // colours that differ by rounding errors
		}
		boxes[worst] = low
		boxes = append(boxes, high)
	}
	q := &quantizer{index: make([]int16, bins)}
	for i := range q.index {
		q.index[i] = -1
	}
	for _, b := range boxes {
		whole := func(v float64) uint8 { return uint8(math.Round(v)) }
		q.palette = append(q.palette, color.RGBA{whole(b.mean[0]), whole(b.mean[1]), whole(b.mean[2]), 255})
	}
	return q
}

// paint stores in dst, which is as large, the colours of img.
func (q *quantizer) paint(dst *image.Paletted, img *image.RGBA) {
	for i := range dst.Pix {
		r, g, b := img.Pix[4*i], img.Pix[4*i+1], img.Pix[4*i+2]
		k := bin(r, g, b)
		if q.index[k] < 0 {
			const middle, mask = 1 << (7 - binBits), 0xff << (8 - binBits) & 0xff
			q.index[k] = int16(q.palette.Index(color.RGBA{r&mask | middle, g&mask | middle, b&mask | middle, 255}))
		}
		dst.Pix[i] = uint8(q.index[k])
	}
}
