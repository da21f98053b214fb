package clip

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"

	"tiebreak/internal/idrl"
)

// reelQuality is that of JPEG in a Reel: about 25 KB for 480x360 pixels.
const reelQuality = 75

// A Reel has the pictures of a recording from outside, in the form in which clips store them, so
// that clips are cut from it without decoding. Pictures are decoded and encoded again when they are
// added, as by EncodeFootage; equal ones are stored once.
type Reel struct {
	W, H  int      // pixels of all pictures, as stored
	Kinds []string // of each stored picture
	Files [][]byte // stored pictures that differ, in the order in which they are first shown
	Show  []int    // the number of the stored picture of each frame

	given image.Point // size of the pictures as they were added
	last  image.Point // size as stored
	index map[[sha256.Size]byte]int
}

// NewReel returns an empty reel.
func NewReel() *Reel { return &Reel{index: map[[sha256.Size]byte]int{}} }

// Add appends a frame. frames is the number of frames of a clip, on which the size of the stored
// pictures depends. It returns an error of kind Invalid if the picture has another size than the
// first, or a size that cannot be shown.
func (r *Reel) Add(p image.Image, frames int) error {
	size := p.Bounds().Size()
	if len(r.Show) == 0 {
		if err := CheckSize(size); err != nil {
			return err
		}
		r.given, r.last = size, storedSize(size, frames, maxPictureSide)
		r.W, r.H = r.last.X, r.last.Y
	}
	if size != r.given {
		return idrl.Errorf(idrl.Invalid, "picture %d has %dx%d pixels; the first has %dx%d", len(r.Show), size.X, size.Y, r.given.X, r.given.Y)
	}
	img, _ := reduce(p, r.last)
	sum := sha256.Sum256(img.Pix)
	k, known := r.index[sum]
	if !known {
		k = len(r.Files)
		kind, file, err := store(img, reelQuality)
		if err != nil {
			return fmt.Errorf("encode picture %d: %w", len(r.Show), err)
		}
		r.index[sum] = k
		r.Kinds, r.Files = append(r.Kinds, kind), append(r.Files, file)
	}
	r.Show = append(r.Show, k)
	return nil
}

// store returns the kind and the stored form of a picture.
func store(img *image.RGBA, quality int) (kind string, file []byte, err error) {
	var out bytes.Buffer
	if p := paletted(img); p != nil {
		err = png.Encode(&out, p)
		return kindPNG, out.Bytes(), err
	}
	err = jpeg.Encode(&out, img, &jpeg.Options{Quality: quality})
	return kindJPEG, out.Bytes(), err
}

// Cut returns the bytes of the clip that f describes, without its Pictures, whose first frame is
// frame first of r: f.Steps·f.Sub + 1 frames. It returns an error of kind Invalid if r has fewer,
// or the clip is too large.
func (r *Reel) Cut(f Footage, first int) ([]byte, error) {
	f.Sub = max(f.Sub, 1)
	n := f.Steps*f.Sub + 1
	if first < 0 || first+n > len(r.Show) || n > maxFrames {
		return nil, idrl.Errorf(idrl.Invalid, "there are no frames %d to %d to make a clip of: there are %d, and a clip has at most %d", first, first+n-1, len(r.Show), maxFrames)
	}
	h := &Header{
		Version: 3, Env: f.Env, Steps: f.Steps, Sub: f.Sub, Frames: n, FrameSec: f.FrameSec, Playback: f.Playback, EndSec: f.EndSec, Phi: f.Phi, Note: f.Note,
		Happens: f.Happens.Name, Useless: f.Happens.Useless,
		W: float64(r.W), H: float64(r.H), Unit: 1, Points: 1, Static: []Shape{}, Moving: []Shape{},
	}
	place := map[int]int{}
	var stored [][]byte
	for _, k := range r.Show[first : first+n] {
		at, known := place[k]
		if !known {
			at = len(stored)
			place[k] = at
			stored = append(stored, r.Files[k])
			h.Pictures = append(h.Pictures, Picture{Kind: r.Kinds[k], Bytes: len(r.Files[k])})
		}
		h.Show = append(h.Show, at)
	}
	var err error
	h.Look, err = packLooks(n, lookSize(r.W, r.H), func(frame int) (image.Image, error) { return ReadPicture(stored[h.Show[frame]]) })
	if err != nil {
		return nil, err
	}
	if err := h.validate(); err != nil {
		return nil, err
	}
	return packFootage(h, stored)
}

// A Filmed environment has recorded pictures.
type Filmed interface {
	// Reel returns the pictures of the recording of a state, the frame that shows the state, and
	// the number of frames from state to state.
	Reel(snapshot []float64) (r *Reel, frame, perStep int, err error)
}

// cutReel encodes a clip of a Filmed environment.
func cutReel(env Filmed, spec idrl.EnvSpec, c idrl.Clip) ([]byte, error) {
	r, frame, sub, err := env.Reel(c.Snapshots[0])
	if err != nil {
		return nil, fmt.Errorf("encode clip %s: %w", c.ID, err)
	}
	f := Footage{
		Env: spec.ID, Steps: c.Steps, Sub: sub, FrameSec: spec.StepSeconds / float64(sub), Playback: spec.Playback, EndSec: spec.EndSeconds, Phi: c.Phi,
		Happens: named(env, c.Snapshots), Note: narrated(env, c.Snapshots),
	}
	return r.Cut(f, frame)
}
