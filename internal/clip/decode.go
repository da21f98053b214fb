package clip

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"io"

	"tiebreak/internal/idrl"
)

// A Clip is what Decode reads.
type Clip struct {
	Header Header

	// Frames holds one row a frame, in world units: the camera's x and y, then
	// x and y of every point of Header.Moving in order.
	Frames [][]float64
}

// Decode reads the bytes that Encode wrote. It returns an error of kind Invalid
// for anything else, and inflates at most 4 MiB.
func Decode(b []byte) (*Clip, error) {
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
	n := uint64(binary.LittleEndian.Uint32(raw))
	raw = raw[4:]
	if n > uint64(len(raw)) {
		return nil, idrl.Errorf(idrl.Invalid, "clip ends within its header")
	}
	c := &Clip{}
	if err := json.Unmarshal(raw[:n], &c.Header); err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "clip has a header that cannot be read: %v", err)
	}
	if err := c.Header.validate(); err != nil {
		return nil, err
	}
	c.Frames, err = frames(&c.Header, raw[n:])
	return c, err
}

// frames reads the numbers of a clip.
func frames(h *Header, raw []byte) ([][]float64, error) {
	n := h.rowLen()
	if want := 2 * n * h.Frames; len(raw) != want {
		return nil, idrl.Errorf(idrl.Invalid, "clip has %d bytes of numbers, want %d", len(raw), want)
	}
	out := make([][]float64, h.Frames)
	now := make([]uint16, n)
	for f := range out {
		out[f] = make([]float64, n)
		for i := range now {
			now[i] += binary.LittleEndian.Uint16(raw)
			raw = raw[2:]
			out[f][i] = float64(int16(now[i])) * h.Unit
		}
	}
	return out, nil
}
