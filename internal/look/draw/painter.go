package draw

import (
	"image"
	"image/color"

	"golang.org/x/image/draw"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/look/clip"
)

// A Painter draws one clip. One goroutine may use it at a time.
type Painter struct {
	clip  *clip.Clip
	scene drawing.Scene
	ways  [][]float64 // of each moving shape with a trail, else nil: its centre in every frame, x y (z)
}

// New returns a painter of c.
func New(c *clip.Clip) *Painter {
	p := &Painter{clip: c, ways: make([][]float64, len(c.Header.Moving))}
	for i, s := range c.Header.Moving {
		if s.Trail {
			p.ways[i] = way(c, s.At)
		}
	}
	return p
}

// Clip returns the clip.
func (p *Painter) Clip() *clip.Clip { return p.clip }

// Size returns the largest image within width×height pixels that the camera's
// view fills. Both sides are even, which films need, and at least 2.
func (p *Painter) Size(width, height int) (w, h int) {
	ratio := p.clip.Header.W / p.clip.Header.H
	across := min(float64(width), float64(height)*ratio)
	even := func(v float64) int { return max(2, int(v/2+1e-9)*2) }
	return even(across), even(across / ratio)
}

// Draw draws the clip at a frame, 0 to frames - 1, which may lie between two, over
// all of dst, whose bounds begin at 0, 0.
func (p *Painter) Draw(dst *image.RGBA, frame float64) {
	last := float64(len(p.clip.Frames) - 1)
	frame = min(max(frame, 0), last)
	p.clip.Scene(&p.scene, frame)
	if p.clip.Pictures != nil {
		p.drawPicture(dst, int(frame+1e-6))
		return
	}
	c := newCanvas(dst)
	if p.scene.Camera.Solid() {
		p.drawSolid(c, frame)
	} else {
		p.drawFlat(c, frame)
	}
}

// drawPicture fills dst with the picture of a frame. One that cannot be decoded is grey.
func (p *Painter) drawPicture(dst *image.RGBA, frame int) {
	img, err := p.clip.Picture(frame)
	if err != nil {
		img = image.NewUniform(color.Gray{128})
		draw.Draw(dst, dst.Bounds(), img, image.Point{}, draw.Src)
		return
	}
	draw.ApproxBiLinear.Scale(dst, dst.Bounds(), img, img.Bounds(), draw.Src, nil)
}

// way returns the centre of the points at in every frame: x y (z).
func way(c *clip.Clip, at []int) []float64 {
	dim := 2
	if c.Header.Distance > 0 {
		dim = 3
	}
	out := make([]float64, 0, dim*len(c.Frames))
	for _, row := range c.Frames {
		for k := range dim {
			sum := 0.0
			for _, p := range at {
				sum += row[dim*p+k]
			}
			out = append(out, sum/float64(len(at)))
		}
	}
	return out
}

// trailPieces is into how many parts a trail is divided.
const trailPieces = 8

// A part is a piece of a trail with one opacity.
type part struct {
	from, to int // points
	alpha    float64
}

// trailParts divides a trail from point 0 to point last, older parts fainter.
func trailParts(last int) []part {
	parts := make([]part, trailPieces)
	for k := range parts {
		parts[k] = part{last * k / trailPieces, last * (k + 1) / trailPieces, 0.12 + 0.5*float64(k+1)/trailPieces}
	}
	return parts
}
