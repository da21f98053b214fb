package clip

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"io"

	"tiebreak/internal/idrl"
)

// A Clip is a decoded clip. It is immutable.
type Clip struct {
	Header Header // of version 2, also of bytes of version 1; of version 3 if it is one of pictures, 4 of video

	// Frames holds a row for each frame, world units: x y (z) of every point,
	// point 0, which is the camera's centre, first.
	Frames [][]float64

	// Pictures holds the files of a clip of pictures, which Header.Pictures describes; nil
	// of a clip of scenes.
	Pictures [][]byte

	// Videos holds the files of a clip of video, which Header.Videos describes, behind its Pictures.
	Videos [][]byte
}

// Decode reads the bytes that Encode wrote, now or in version 1. It returns an
// error of kind Invalid for anything else, and inflates at most 4 MiB.
func Decode(b []byte) (*Clip, error) {
	if rest, ok := bytes.CutPrefix(b, []byte(footageMagic)); ok {
		return decodeFootage(rest)
	}
	raw, err := inflate(b)
	if err != nil {
		return nil, err
	}
	n := uint64(binary.LittleEndian.Uint32(raw))
	raw = raw[4:]
	if n > uint64(len(raw)) {
		return nil, idrl.Errorf(idrl.Invalid, "clip ends within its header")
	}
	c := &Clip{}
	h := &c.Header
	if err := json.Unmarshal(raw[:n], h); err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "clip has a header that cannot be read: %v", err)
	}
	read := frames
	if h.Version == 1 {
		read = framesV1
	}
	if err := h.modernise(); err != nil {
		return nil, err
	}
	if h.Version != 2 {
		return nil, idrl.Errorf(idrl.Invalid, "clip of scenes has version %d; this program reads versions 1 and 2", h.Version)
	}
	if err := h.validate(); err != nil {
		return nil, err
	}
	c.Frames, err = read(h, raw[n:])
	return c, err
}

// inflate returns what was deflated: at least the length of the header.
func inflate(b []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(b, []byte(magic))
	if !ok {
		return nil, idrl.Errorf(idrl.Invalid, "not a clip: it does not begin with %q", magic)
	}
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(rest)), maxBytes+1))
	switch {
	case err != nil:
		return nil, idrl.Errorf(idrl.Invalid, "clip cannot be inflated: %v", err)
	case len(raw) > maxBytes:
		return nil, idrl.Errorf(idrl.Invalid, "clip inflates to more than %d bytes", maxBytes)
	case len(raw) < 4:
		return nil, idrl.Errorf(idrl.Invalid, "clip ends before its header")
	}
	return raw, nil
}
