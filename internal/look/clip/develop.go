package clip

import (
	"crypto/sha256"
	"fmt"
	"image"
	"image/color"
	"math"
	"reflect"

	"tiebreak/internal/idrl"
)

// A reel is the different pictures of a clip at the size at which they are stored.
type reel []*image.RGBA

// develop stores in h the picture of each frame, their size and what is seen of them, and returns the different
// pictures.
func develop(h *Header, f Footage, size image.Point) (out reel, err error) {
	var small image.Point
	if f.Seek {
		out, small, err = developSought(h, f, size)
	} else {
		out, small, err = developWhole(h, f, size)
	}
	h.W, h.H = float64(small.X), float64(small.Y)
	return out, err
}

// developWhole makes each picture smaller before it reads the next one. How small depends on how many of them
// differ: where fewer do than images are given, it may have to begin again.
func developWhole(h *Header, f Footage, size image.Point) (out reel, small image.Point, err error) {
	small = storedSize(size, images(f.Pictures), maxPictureSide)
	for {
		out, err = collect(h, f.Pictures, size, func(p image.Image) (*image.RGBA, [sha256.Size]byte) { return reduce(p, small) })
		again := storedSize(size, max(1, len(out)), maxPictureSide)
		if err != nil || again == small {
			return out, small, err
		}
		small = again
	}
}

// developSought makes pictures smaller by how small a part of them all is seen.
func developSought(h *Header, f Footage, size image.Point) (out reel, small image.Point, err error) {
	out, err = collect(h, f.Pictures, size, func(p image.Image) (*image.RGBA, [sha256.Size]byte) {
		img := opaque(p)
		return img, sha256.Sum256(img.Pix)
	})
	if err != nil {
		return nil, small, err
	}
	part := seenIn(out)
	h.Seen = &part
	width, height := part[2]-part[0], part[3]-part[1]
	side := min(maxStoredSide, maxPictureSide/max(width, height))
	if width*height <= 0.5 {
		side = max(side, maxSoughtSide)
	}
	small = storedSize(size, len(out), side)
	for i, img := range out {
		out[i] = shrink(img, small)
	}
	return out, small, nil
}

// collect stores in h the picture of each frame, and returns what copied makes of those that differ by its hashes. Each
// image is decoded and copied once, however often it is shown: a copy takes up to 64 MB.
func collect(h *Header, pictures []image.Image, size image.Point, copied func(image.Image) (*image.RGBA, [sha256.Size]byte)) (out reel, err error) {
	same, seen := map[image.Image]int{}, map[[sha256.Size]byte]int{}
	h.Show = nil
	for i, p := range pictures {
		isKey := reflect.ValueOf(p).Comparable()
		if isKey {
			if k, known := same[p]; known {
				h.Show = append(h.Show, k)
				continue
			}
		}
		read := p
		if u, ok := p.(*Undecoded); ok {
			if read, err = u.Decode(); err != nil {
				return nil, err
			}
			if got := read.Bounds().Size(); got != size {
				return nil, idrl.Errorf(idrl.Invalid, "picture %d has %dx%d pixels; its header says %dx%d", i, got.X, got.Y, size.X, size.Y)
			}
		}
		img, sum := copied(read)
		k, known := seen[sum]
		if !known {
			k = len(out)
			seen[sum] = k
			out = append(out, img)
		}
		if isKey {
			same[p] = k
		}
		h.Show = append(h.Show, k)
	}
	return out, nil
}

// images returns how many of the pictures are images of their own.
func images(pictures []image.Image) (n int) {
	same := map[image.Image]bool{}
	for _, p := range pictures {
		if reflect.ValueOf(p).Comparable() {
			same[p] = true
		} else {
			n++
		}
	}
	return n + len(same)
}

// storedSize returns the size at which n pictures of a size are stored, whose longer side has so many pixels at most.
func storedSize(size image.Point, n int, side float64) image.Point {
	scale := min(1, side/float64(max(size.X, size.Y)), math.Sqrt(maxPixels/float64(size.X*size.Y*n)))
	return image.Pt(max(minPictureSide, int(float64(size.X)*scale)), max(minPictureSide, int(float64(size.Y)*scale)))
}

// encode returns the stored form of the pictures, and describes them in h.
func (r reel) encode(h *Header, quality int) ([][]byte, error) {
	h.Pictures = nil
	stored := make([][]byte, len(r))
	for i, img := range r {
		kind, file, err := store(img, quality)
		if err != nil {
			return nil, fmt.Errorf("encode picture %d of a clip: %w", i, err)
		}
		stored[i] = file
		h.Pictures = append(h.Pictures, Picture{Kind: kind, Bytes: len(file)})
	}
	return stored, nil
}

// paletted returns img with a palette, or nil if it has more than 256 colours.
func paletted(img *image.RGBA) *image.Paletted {
	out := image.NewPaletted(img.Rect, nil)
	index := map[color.RGBA]uint8{}
	last, k := color.RGBA{}, uint8(0) // most pixels are as the one before
	for i := range out.Pix {
		p := img.Pix[4*i : 4*i+4]
		c := color.RGBA{p[0], p[1], p[2], p[3]}
		if i > 0 && c == last {
			out.Pix[i] = k
			continue
		}
		var known bool
		k, known = index[c]
		last = c
		if !known {
			if len(out.Palette) == 256 {
				return nil
			}
			k = uint8(len(out.Palette))
			index[c] = k
			out.Palette = append(out.Palette, c)
		}
		out.Pix[i] = k
	}
	return out
}
