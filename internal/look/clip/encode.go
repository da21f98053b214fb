package clip

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

const magic = "TBC1"

// Encode draws c and returns its bytes, a function of its arguments alone. env must be an instance
// equal to the one in which c was recorded; it is left in the last state of c. A drawing.Substepper
// gives a frame for each of its substeps, any other environment one for each step. An environment
// that cannot draw but is drawing.Pictured gives a picture for each step (EncodeFootage), or all
// existing ones (Filmed), and one that is Taped gives videos and some stills. Encode returns an error of kind Invalid if env cannot show or restore
// states, or if c has no snapshots, and the error of an environment that fails (idrl.Err).
func Encode(env idrl.Environment, c idrl.Clip) ([]byte, error) {
	drawer, draws := env.(drawing.Drawer)
	keeper, keeps := env.(idrl.Snapshotter)
	pictured, pictures := env.(drawing.Pictured)
	taped, tapes := env.(Taped)
	spec := env.Spec()
	switch {
	case !draws && !pictures && !tapes || !keeps:
		return nil, idrl.Errorf(idrl.Invalid, "environment %q cannot draw its past states, so its clips cannot be shown", spec.ID)
	case len(c.Snapshots) != c.Steps+1:
		return nil, idrl.Errorf(idrl.Invalid, "clip %s has %d snapshots for %d steps, want one more", c.ID, len(c.Snapshots), c.Steps)
	}
	if tapes {
		return cutTape(taped, spec, c)
	}
	if filmed, ok := env.(Filmed); ok && !draws {
		return cutReel(filmed, spec, c)
	}
	if !draws {
		return takePictures(pictured, keeper, spec, c)
	}
	f := shoot(drawer, keeper, c.Snapshots, spec.StepSeconds)
	if err := idrl.Err(env); err != nil {
		return nil, fmt.Errorf("encode clip %s: %w", c.ID, err)
	}
	f.keep(spec.StepSeconds / float64(f.sub) / spec.Playback)
	h := f.header(spec, c)
	if f.err == nil {
		f.err = h.validate()
	}
	if f.err != nil {
		return nil, fmt.Errorf("encode clip %s: environment %q draws what cannot be shown: %s", c.ID, spec.ID, f.err.Error())
	}
	return pack(h, f.tracks)
}

// pack returns the bytes of a clip.
func pack(h *Header, tracks []track) ([]byte, error) {
	head, err := json.Marshal(h) // refuses numbers that are not finite
	if err != nil {
		return nil, fmt.Errorf("encode the header of a clip: %w", err)
	}
	raw := binary.LittleEndian.AppendUint32(nil, uint32(len(head)))
	raw = append(raw, head...)
	for _, t := range tracks {
		for _, column := range t {
			raw = appendColumn(raw, column, h.Unit)
		}
	}
	if len(raw) > maxBytes {
		return nil, idrl.Errorf(idrl.Invalid, "a clip of %d bytes is too large to show; the limit is %d", len(raw), maxBytes)
	}
	out := bytes.NewBufferString(magic)
	w, err := flate.NewWriter(out, flate.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compress a clip: %w", err)
	}
	if _, err := w.Write(raw); err != nil {
		return nil, fmt.Errorf("compress a clip: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress a clip: %w", err)
	}
	return out.Bytes(), nil
}
