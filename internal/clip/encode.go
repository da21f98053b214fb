package clip

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"tiebreak/internal/idrl"
)

const magic = "TBC1"

// unitsAcross is how many steps of the numbers span the larger side of the
// camera: a quarter of a pixel on a view of 512.
const unitsAcross = 1024

// Encode draws c and returns its bytes, a function of its arguments alone. env
// must be an instance equal to the one c was recorded in; it is left in the last
// state of c. Encode returns an error of kind Invalid if env cannot draw or
// restore states, or if c has no snapshots.
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
	var scene idrl.Scene
	var h Header
	rows := make([][]float64, len(c.Snapshots))
	for i, s := range c.Snapshots {
		keeper.Restore(s)
		drawer.Draw(&scene)
		if i == 0 {
			h = newHeader(spec, c, scene)
		}
		rows[i] = row(scene)
		if len(rows[i]) != h.rowLen() {
			return nil, fmt.Errorf("encode clip %s: frame %d has %d numbers, frame 0 has %d", c.ID, i, len(rows[i]), h.rowLen())
		}
	}
	h.Unit = unit(h, rows)
	if err := h.validate(); err != nil {
		return nil, fmt.Errorf("encode clip %s: environment %q draws what cannot be shown: %s", c.ID, spec.ID, err.Error())
	}
	return pack(h, rows)
}

// newHeader returns the header of a clip whose first scene is given, but for
// the unit.
func newHeader(spec idrl.EnvSpec, c idrl.Clip, scene idrl.Scene) Header {
	h := Header{
		Version: 1, Env: spec.ID, Steps: c.Steps, Frames: c.Steps + 1,
		StepSec: spec.StepSeconds, Playback: spec.Playback, Phi: c.Phi,
		W: scene.Camera.W, H: scene.Camera.H,
		Static: make([]Shape, len(scene.Static)), Moving: make([]Shape, len(scene.Moving)),
	}
	for i, s := range scene.Static {
		h.Static[i] = Shape{Kind: s.Kind, Paint: s.Paint, Size: s.Size, Pts: slices.Clone(s.Pts), Text: s.Text}
	}
	for i, s := range scene.Moving {
		h.Moving[i] = Shape{Kind: s.Kind, Paint: s.Paint, Size: s.Size, N: len(s.Pts) / 2, Text: s.Text, Trail: s.Trail}
	}
	return h
}

// row returns the numbers of a frame, in world units.
func row(scene idrl.Scene) []float64 {
	out := []float64{scene.Camera.X, scene.Camera.Y}
	for _, s := range scene.Moving {
		out = append(out, s.Pts...)
	}
	return out
}

// unit returns the step of the numbers: fine for the eye, and coarse enough for
// the largest coordinate to fit in 16 bits.
func unit(h Header, rows [][]float64) float64 {
	u := max(h.W, h.H) / unitsAcross
	for _, r := range rows {
		for _, v := range r {
			u = max(u, math.Abs(v)/math.MaxInt16)
		}
	}
	return u
}

// pack returns the bytes of a clip.
func pack(h Header, rows [][]float64) ([]byte, error) {
	head, err := json.Marshal(h) // refuses numbers that are not finite
	if err != nil {
		return nil, fmt.Errorf("encode the header of a clip: %w", err)
	}
	raw := binary.LittleEndian.AppendUint32(nil, uint32(len(head)))
	raw = append(raw, head...)
	before := make([]uint16, h.rowLen())
	for _, r := range rows {
		for i, v := range r {
			q := uint16(int16(math.Round(v / h.Unit)))
			raw = binary.LittleEndian.AppendUint16(raw, q-before[i])
			before[i] = q
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
