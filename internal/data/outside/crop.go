package outside

import (
	"fmt"
	"image"
	"image/draw"
)

// A Crop is the part of every picture that is shown, in pixels: left, top, width and height, in JSON a
// list of the four. It is the same for all clips of a session, so that they can be compared.
type Crop []int

// Limits of a side, pixels: those of pictures.
const (
	minCrop = 8
	maxCrop = 4096
)

func (c Crop) check() error {
	switch {
	case len(c) == 0:
		return nil
	case len(c) != 4:
		return fmt.Errorf("view has %d numbers; it has four: left, top, width and height, in pixels", len(c))
	case min(c[0], c[1]) < 0 || max(c[0], c[1]) > maxCrop || min(c[2], c[3]) < minCrop || max(c[2], c[3]) > maxCrop:
		return fmt.Errorf("view has left and top of 0 to %d and a width and height of %d to %d pixels", maxCrop, minCrop, maxCrop)
	}
	return nil
}

// of returns the part of p, or p itself if c is empty. It returns an error if the
// part is not within it.
func (c Crop) of(p image.Image) (image.Image, error) {
	if len(c) == 0 {
		return p, nil
	}
	b := p.Bounds()
	part := image.Rect(c[0], c[1], c[0]+c[2], c[1]+c[3])
	if !part.In(image.Rectangle{Max: b.Size()}) {
		return nil, fmt.Errorf("the view %v of its description is not within a picture of %dx%d pixels", []int(c), b.Dx(), b.Dy())
	}
	part = part.Add(b.Min)
	if s, ok := p.(interface {
		SubImage(image.Rectangle) image.Image
	}); ok {
		return s.SubImage(part), nil
	}
	out := image.NewRGBA(image.Rectangle{Max: part.Size()})
	draw.Draw(out, out.Rect, p, part.Min, draw.Src)
	return out, nil
}
