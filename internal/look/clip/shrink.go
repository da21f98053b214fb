package clip

import (
	"crypto/sha256"
	"image"
	"math"

	"golang.org/x/image/draw"
)

// An Undecoded picture comes from outside, and is decoded while a clip is made. Then it is let go of, so that
// one picture of a clip is in memory, which takes up to 128 MiB, and not all of them.
type Undecoded struct {
	image.Image // nil: there are no colours before Decode

	Size   image.Point // by its header
	Decode func() (image.Image, error)
}

// Bounds implements image.Image.
func (u *Undecoded) Bounds() image.Rectangle { return image.Rectangle{Max: u.Size} }

// bandRows is how many rows of a large picture are copied at a time.
const bandRows = 32

// reduce returns a picture on white at a size, which is not larger, and the hash of its pixels as they were. Of a
// picture that becomes smaller than half, it copies a band of rows at a time.
func reduce(p image.Image, size image.Point) (small *image.RGBA, sum [sha256.Size]byte) {
	b := p.Bounds()
	if 2*size.X >= b.Dx() {
		img := opaque(p)
		return shrink(img, size), sha256.Sum256(img.Pix)
	}
	h, to := sha256.New(), newTent(size, b.Size())
	whole := isOpaque(p)
	band := image.NewRGBA(image.Rect(0, 0, b.Dx(), min(bandRows, b.Dy())))
	for y := b.Min.Y; y < b.Max.Y; y += bandRows {
		band.Rect.Max.Y = min(bandRows, b.Max.Y-y)
		band.Pix = band.Pix[:band.Rect.Max.Y*band.Stride]
		onWhite(band, p, image.Pt(b.Min.X, y), whole)
		h.Write(band.Pix)
		for k := range band.Rect.Max.Y {
			to.add(band.Pix[k*band.Stride:][:band.Stride])
		}
	}
	h.Sum(sum[:0])
	return to.image(), sum
}

// shrink returns img at a size, which is not larger.
func shrink(img *image.RGBA, size image.Point) *image.RGBA {
	if img.Rect.Max == size {
		return img
	}
	scaler := draw.Scaler(draw.ApproxBiLinear) // four times as fast, and as good where it skips no pixel
	if 2*size.X < img.Rect.Max.X {
		scaler = draw.BiLinear
	}
	to := image.NewRGBA(image.Rectangle{Max: size})
	scaler.Scale(to, to.Rect, img, img.Rect, draw.Src, nil)
	return to
}

// A tent makes a picture smaller as draw.BiLinear does, to the byte, from one row after another. That function
// has 32 bytes for each pixel of the height before and the width after: 63 MB for 4096 rows.
type tent struct {
	columns, rows taps
	row           [][4]float64   // the last row at the new width
	sums          [][][4]float64 // rows of the result
	at            int            // rows that were added
}

// taps are the weights of places before, for each place after.
type taps struct {
	of    [][]tap   // by place before
	total []float64 // 1/Σ of the weights of a place after
}

// A tap is a place after, and its weight.
type tap struct {
	to     int
	weight float64
}

func newTent(size, from image.Point) *tent {
	t := &tent{columns: newTaps(size.X, from.X), rows: newTaps(size.Y, from.Y), row: make([][4]float64, size.X), sums: make([][][4]float64, size.Y)}
	for y := range t.sums {
		t.sums[y] = make([][4]float64, size.X)
	}
	return t
}

// newTaps returns those of a tent as wide as two places after: newDistrib of golang.org/x/image/draw.
func newTaps(to, from int) taps {
	out := taps{of: make([][]tap, from), total: make([]float64, to)}
	scale := float64(from) / float64(to)
	wide := max(1, scale)
	for k := range to {
		centre := float64((float64(k)+0.5)*scale) - 0.5
		sum := 0.0
		for i := max(0, int(math.Floor(centre-wide))); i < min(from, int(math.Ceil(centre+wide))); i++ {
			if weight := 1 - math.Abs((centre-float64(i))*(1/wide)); weight > 0 {
				out.of[i] = append(out.of[i], tap{k, weight})
				sum += weight
			}
		}
		out.total[k] = 1 / sum
	}
	return out
}

// add adds the next row, of 4 bytes a pixel.
func (t *tent) add(pix []byte) {
	clear(t.row)
	for x, taps := range t.columns.of {
		var c [4]float64
		for k := range c {
			c[k] = float64(uint32(pix[4*x+k]) * 0x101)
		}
		for _, tap := range taps {
			addTo(&t.row[tap.to], &c, tap.weight)
		}
	}
	for x := range t.row {
		for k := range t.row[x] {
			t.row[x][k] *= t.columns.total[x] / 0xffff
		}
	}
	for _, tap := range t.rows.of[t.at] {
		sums := t.sums[tap.to]
		for x := range t.row {
			addTo(&sums[x], &t.row[x], tap.weight)
		}
	}
	t.at++
}

// addTo adds c·weight, each product rounded, to sum.
func addTo(sum, c *[4]float64, weight float64) {
	sum[0] += float64(c[0] * weight)
	sum[1] += float64(c[1] * weight)
	sum[2] += float64(c[2] * weight)
	sum[3] += float64(c[3] * weight)
}

// image returns the result when all rows are added.
func (t *tent) image() *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, len(t.row), len(t.sums)))
	at := 0
	for y, row := range t.sums {
		for _, c := range row {
			for k := range c {
				v := float64(0xffff*float64(min(c[k], c[3])*t.rows.total[y])) + 0.5
				out.Pix[at+k] = uint8(int32(min(v, 0xffff)) >> 8) //nolint:gosec // in range
			}
			at += 4
		}
	}
	return out
}

// onWhite copies the part of p from a place on to all of a picture, on white unless p is opaque.
func onWhite(out *image.RGBA, p image.Image, from image.Point, opaque bool) {
	if opaque {
		draw.Draw(out, out.Rect, p, from, draw.Src) // a third of the time: it is a copy, most often
		return
	}
	draw.Draw(out, out.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, p, from, draw.Over)
}

func isOpaque(p image.Image) bool {
	o, ok := p.(interface{ Opaque() bool })
	return ok && o.Opaque()
}

// opaque returns a copy of a picture on white.
func opaque(p image.Image) *image.RGBA {
	b := p.Bounds()
	out := image.NewRGBA(image.Rectangle{Max: b.Size()})
	onWhite(out, p, b.Min, isOpaque(p))
	return out
}
