package clip

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

// footageMagic begins the bytes of a clip of pictures.
const footageMagic = "TBF1"

// Kinds of stored pictures; players know no others.
const (
	kindPNG  = "png"  // of at most 256 colours: unchanged
	kindJPEG = "jpeg" // of more colours
)

// Limits of pictures.
const (
	minPictureSide = 8
	maxPictureSide = 480 // of what is shown, as stored; larger ones are shrunk
	maxSoughtSide  = 640 // the same where half of a picture or less is seen (Footage.Seek): most environments of Gymnasium give 600, and shrinking takes half of the time
	maxStoredSide  = 960 // of all of a picture of which a small part is shown
	maxGivenSide   = 4096
	maxGivenBytes  = 8 << 20
	maxScans       = 100        // of a JPEG: each may go over all pixels, and takes a few bytes
	maxPixels      = 24_000_000 // of all pictures of a clip that differ: what a browser decodes
	aimBytes       = 512 << 10  // of all pictures of a clip; reached by the quality of JPEG
	maxFootage     = 4 << 20    // of the bytes of a clip of pictures
	maxLook        = 64 << 10   // of looks, deflated
)

// Footage is a clip of pictures before it is encoded.
type Footage struct {
	Env      string            // Header.Env, required
	Steps    int               // steps shown; 0 for a still
	Sub      int               // pictures of a step; default 1
	FrameSec float64           // simulated seconds from picture to picture, required
	Playback float64           // simulated seconds shown per second, required
	EndSec   float64           // Header.EndSec
	Phi      []float64         // Σφ of the clip, length d
	Note     string            // text for the clip, for people; may be empty
	Happens  drawing.Happening // Header.Happens and Useless; may be empty
	Seek     bool              // players show the part of the pictures in which there is something to see (Header.Seen)

	Pictures []image.Image // Steps·Sub + 1, all of one size; some may be Undecoded
}

// EncodeFootage returns the bytes of a clip of pictures, a function of f alone. Pictures are
// encoded again, so that no metadata of their files reaches a browser: as PNG if they have at most
// 256 colours, else as JPEG, and smaller if a side has more than 480 pixels (640, or 960 where little
// is seen of them, with f.Seek) or they have more than 24 million together. Equal pictures are stored once. It returns an error of kind Invalid if f is
// not a clip, or is too large.
func EncodeFootage(f Footage) ([]byte, error) {
	f.Sub = max(f.Sub, 1)
	switch {
	case len(f.Pictures) == 0 || len(f.Pictures) != f.Steps*f.Sub+1:
		return nil, idrl.Errorf(idrl.Invalid, "a clip of %d steps has %d pictures; it needs %d", f.Steps, len(f.Pictures), f.Steps*f.Sub+1)
	case len(f.Pictures) > maxFrames:
		return nil, idrl.Errorf(idrl.Invalid, "a clip has %d pictures; the limit is %d", len(f.Pictures), maxFrames)
	}
	size := f.Pictures[0].Bounds().Size()
	for i, p := range f.Pictures {
		if got := p.Bounds().Size(); got != size {
			return nil, idrl.Errorf(idrl.Invalid, "picture %d has %dx%d pixels; the first has %dx%d", i, got.X, got.Y, size.X, size.Y)
		}
	}
	if err := CheckSize(size); err != nil {
		return nil, err
	}
	h := &Header{
		Version: 3, Env: f.Env, Steps: f.Steps, Sub: f.Sub, Frames: len(f.Pictures), FrameSec: f.FrameSec,
		Playback: f.Playback, EndSec: f.EndSec, Phi: f.Phi, Note: f.Note, Happens: f.Happens.Name, Useless: f.Happens.Useless,
		Unit: 1, Points: 1, Static: []Shape{}, Moving: []Shape{},
	}
	r, err := develop(h, f, size)
	if err != nil {
		return nil, err
	}
	if h.Look, err = packLooks(h.Frames, lookSize(int(h.W), int(h.H)), func(frame int) (image.Image, error) { return r[h.Show[frame]], nil }); err != nil {
		return nil, err
	}
	for _, quality := range []int{85, 70, 55, 40} {
		stored, err := r.encode(h, quality)
		if err != nil {
			return nil, err
		}
		if quality > 40 && total(stored) > aimBytes {
			continue
		}
		if err := h.validate(); err != nil {
			return nil, err
		}
		return packFootage(h, stored)
	}
	panic("unreachable")
}

func total(stored [][]byte) (n int) {
	for _, b := range stored {
		n += len(b)
	}
	return n
}

// packFootage returns the bytes of a clip whose pictures, and videos behind them, are stored.
func packFootage(h *Header, stored [][]byte) ([]byte, error) {
	head, err := json.Marshal(h) // refuses numbers that are not finite
	if err != nil {
		return nil, fmt.Errorf("encode the header of a clip: %w", err)
	}
	out := binary.LittleEndian.AppendUint32([]byte(footageMagic), uint32(len(head)))
	out = append(out, head...)
	for _, b := range stored {
		out = append(out, b...)
	}
	if len(out) > h.maxFile() {
		return nil, idrl.Errorf(idrl.Invalid, "a clip of %d bytes is too large to show; the limit is %d: use smaller or fewer pictures", len(out), h.maxFile())
	}
	return out, nil
}

// ReadPicture decodes a PNG or JPEG from outside: at most 8 MiB and 4096 pixels a side, which is
// checked before anything is decoded. It returns an error of kind Invalid for anything else.
func ReadPicture(b []byte) (image.Image, error) {
	if len(b) > maxGivenBytes {
		return nil, idrl.Errorf(idrl.Invalid, "a picture has %d bytes; the limit is %d", len(b), maxGivenBytes)
	}
	read, config := png.Decode, png.DecodeConfig
	if bytes.HasPrefix(b, []byte("\xff\xd8")) {
		read, config = jpeg.Decode, jpeg.DecodeConfig
		if n := bytes.Count(b, []byte("\xff\xda")); n > maxScans {
			return nil, idrl.Errorf(idrl.Invalid, "a JPEG picture has %d scans; the limit is %d", n, maxScans)
		}
	}
	c, err := config(bytes.NewReader(b))
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "a picture is neither PNG nor JPEG, or is damaged: %v", err)
	}
	if err := CheckSize(image.Pt(c.Width, c.Height)); err != nil {
		return nil, err
	}
	img, err := read(bytes.NewReader(b))
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "a picture cannot be decoded: %v", err)
	}
	return img, nil
}

// CheckSize returns an error of kind Invalid if a picture that comes from outside is too large or too
// small, before anything is decoded.
func CheckSize(size image.Point) error {
	if min(size.X, size.Y) < minPictureSide || max(size.X, size.Y) > maxGivenSide {
		return idrl.Errorf(idrl.Invalid, "a picture has %dx%d pixels; a side may have %d to %d", size.X, size.Y, minPictureSide, maxGivenSide)
	}
	return nil
}

// decodeFootage reads what packFootage wrote.
func decodeFootage(b []byte) (*Clip, error) {
	h, rest, err := readHeader(b)
	switch {
	case err != nil:
		return nil, err
	case h.Version != 3 && h.Version != 4:
		return nil, idrl.Errorf(idrl.Invalid, "clip of pictures has version %d; this program reads versions 3 and 4", h.Version)
	case len(b) > h.maxFile():
		return nil, idrl.Errorf(idrl.Invalid, "clip has %d bytes; the limit is %d", len(b), h.maxFile())
	}
	if err := h.validate(); err != nil {
		return nil, err
	}
	stored, err := h.split(rest)
	if err != nil {
		return nil, err
	}
	c := &Clip{Header: *h, Pictures: stored[:len(h.Pictures):len(h.Pictures)], Frames: newFrames(h.Frames, 2)}
	for i, p := range h.Pictures {
		if err := h.checkPicture(p.Kind, c.Pictures[i]); err != nil {
			return nil, err
		}
	}
	for i, v := range h.Videos {
		file := stored[len(h.Pictures)+i]
		if err := checkVideo(v.Type, file); err != nil {
			return nil, err
		}
		c.Videos = append(c.Videos, file)
	}
	for _, row := range c.Frames {
		row[0], row[1] = h.W/2, h.H/2
	}
	return c, nil
}

// checkPicture returns an error of kind Invalid unless b begins as a picture of a kind and of
// the size of the clip does.
func (h *Header) checkPicture(kind string, b []byte) error {
	config := png.DecodeConfig
	if kind == kindJPEG {
		config = jpeg.DecodeConfig
	}
	c, err := config(bytes.NewReader(b))
	if err != nil || float64(c.Width) != h.W || float64(c.Height) != h.H {
		return idrl.Errorf(idrl.Invalid, "clip has a picture that is not a %s of %vx%v pixels", kind, h.W, h.H)
	}
	return nil
}

// validateFootage returns an error of kind Invalid if the pictures of h do not fit the rest.
func (h *Header) validateFootage() error {
	switch {
	case len(h.Static) != 0 || len(h.Moving) != 0 || h.Points != 1 || h.Distance != 0:
		return idrl.Errorf(idrl.Invalid, "clip of pictures has shapes")
	case len(h.Show) != h.Frames:
		return idrl.Errorf(idrl.Invalid, "clip says of %d of its %d frames which picture they show", len(h.Show), h.Frames)
	case len(h.Look) > maxLook:
		return idrl.Errorf(idrl.Invalid, "clip has looks of %d bytes; the limit is %d", len(h.Look), maxLook)
	case len(h.Pictures) == 0 || len(h.Pictures) > h.Frames:
		return idrl.Errorf(idrl.Invalid, "clip has %d pictures for %d frames", len(h.Pictures), h.Frames)
	case h.W != math.Trunc(h.W) || h.H != math.Trunc(h.H) || min(h.W, h.H) < minPictureSide || max(h.W, h.H) > maxStoredSide:
		return idrl.Errorf(idrl.Invalid, "clip has pictures of %vx%v pixels; a side has %d to %d", h.W, h.H, minPictureSide, maxStoredSide)
	case h.Seen != nil && !h.Seen.Valid():
		return idrl.Errorf(idrl.Invalid, "clip has something to see at %v, which is no part of its pictures", *h.Seen)
	case h.W*h.H*float64(len(h.Pictures)) > 1.01*maxPixels:
		return idrl.Errorf(idrl.Invalid, "clip has pictures of more than %d pixels together", maxPixels)
	}
	for _, p := range h.Pictures {
		if p.Bytes < 1 || p.Bytes > maxFootage || p.Kind != kindPNG && p.Kind != kindJPEG {
			return idrl.Errorf(idrl.Invalid, "clip has a picture of kind %q and %d bytes", p.Kind, p.Bytes)
		}
	}
	for _, k := range h.Show {
		if k < 0 || k >= len(h.Pictures) {
			return idrl.Errorf(idrl.Invalid, "clip shows picture %d of %d", k, len(h.Pictures))
		}
	}
	return h.validateTape()
}

// Picture returns the picture that a frame of a clip of pictures shows, frame 0 first. It
// returns an error of kind Invalid if its bytes cannot be decoded, and panics if c is a clip
// of scenes or has no such frame.
func (c *Clip) Picture(frame int) (image.Image, error) {
	return ReadPicture(c.Pictures[c.Header.Show[frame]])
}

// takePictures encodes a clip of an environment that shows itself in pictures, one for each step.
func takePictures(env drawing.Pictured, keeper idrl.Snapshotter, spec idrl.EnvSpec, c idrl.Clip) ([]byte, error) {
	f := Footage{Env: spec.ID, Steps: c.Steps, FrameSec: spec.StepSeconds, Playback: spec.Playback, EndSec: spec.EndSeconds, Phi: c.Phi}
	for _, s := range c.Snapshots {
		keeper.Restore(s)
		p, err := env.Picture()
		if err != nil {
			return nil, fmt.Errorf("encode clip %s: picture of environment %q: %w", c.ID, spec.ID, err)
		}
		f.Pictures = append(f.Pictures, p)
	}
	f.Happens = named(env, c.Snapshots)
	framed, ok := env.(drawing.Framed)
	f.Seek = ok && !framed.Framed()
	return EncodeFootage(f)
}
