package clip

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"tiebreak/internal/idrl"
)

const magic = "TBC1"

// Encode draws c and returns its bytes, a function of its arguments alone. env
// must be an instance equal to the one c was recorded in; it is left in the last
// state of c. An idrl.Substepper gives a frame for each of its substeps, any
// other environment one for each step. Encode returns an error of kind Invalid if
// env cannot draw or restore states, or if c has no snapshots.
func Encode(env idrl.Environment, c idrl.Clip) ([]byte, error) {
	drawer, draws := env.(idrl.Drawer)
	keeper, keeps := env.(idrl.Snapshotter)
	spec := env.Spec()
	switch {
	case !draws || !keeps:
		return nil, idrl.Errorf(idrl.Invalid, "environment %q cannot draw its past states, so people cannot judge its clips", spec.ID)
	case len(c.Snapshots) != c.Steps+1:
		return nil, idrl.Errorf(idrl.Invalid, "clip %s has %d snapshots for %d steps, want one more", c.ID, len(c.Snapshots), c.Steps)
	}
	f := shoot(drawer, keeper, c.Snapshots)
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
