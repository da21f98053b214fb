package clip

import (
	"bytes"
	"image"
	"image/color"

	"tiebreak/internal/base/drawing"
)

// seenIn returns the part outside of which each of the pictures, which are of one size and begin at 0, 0, has
// nothing but its background. That is all of them if they have nothing else.
func seenIn(pictures reel) drawing.Part {
	var all image.Rectangle
	for _, img := range pictures {
		all = all.Union(content(img))
	}
	if all.Empty() {
		return drawing.Whole()
	}
	w, h := float64(pictures[0].Rect.Max.X), float64(pictures[0].Rect.Max.Y)
	return drawing.Part{float64(all.Min.X) / w, float64(all.Min.Y) / h, float64(all.Max.X) / w, float64(all.Max.Y) / h}
}

// content returns the smallest rectangle around all pixels that differ from the background.
func content(img *image.RGBA) (out image.Rectangle) {
	w, h := img.Rect.Max.X, img.Rect.Max.Y
	plain := bytes.Repeat(background(img), w)
	for y := range h {
		row := img.Pix[y*img.Stride : y*img.Stride+4*w]
		if bytes.Equal(row, plain) {
			continue
		}
		left, right := 0, w
		for bytes.Equal(row[4*left:4*left+4], plain[:4]) {
			left++
		}
		for bytes.Equal(row[4*right-4:4*right], plain[:4]) {
			right--
		}
		out = out.Union(image.Rect(left, y, right, y+1))
	}
	return out
}

// background returns the most common colour of a picture, read off some thousand pixels.
func background(img *image.RGBA) []byte {
	apart, count, best := max(1, min(img.Rect.Max.X, img.Rect.Max.Y)/64), map[color.RGBA]int{}, color.RGBA{}
	for y := 0; y < img.Rect.Max.Y; y += apart {
		for x := 0; x < img.Rect.Max.X; x += apart {
			c := img.RGBAAt(x, y)
			if count[c]++; count[c] > count[best] {
				best = c
			}
		}
	}
	return []byte{best.R, best.G, best.B, best.A}
}
