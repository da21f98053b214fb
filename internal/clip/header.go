package clip

import (
	"math"

	"tiebreak/internal/idrl"
)

// Header is everything of a clip that does not move.
type Header struct {
	Version  int       `json:"v"` // 1
	Env      string    `json:"env"`
	Steps    int       `json:"steps"`    // steps shown; 0 for a still
	Frames   int       `json:"frames"`   // Steps+1
	StepSec  float64   `json:"dt"`       // simulated seconds from frame to frame
	Playback float64   `json:"playback"` // simulated seconds shown per second
	Phi      []float64 `json:"phi"`      // Σφ of the clip, undiscounted, length d
	Unit     float64   `json:"unit"`     // world units of a step of the numbers
	W        float64   `json:"w"`        // width of the camera, world units
	H        float64   `json:"h"`        // height of the camera, world units
	Static   []Shape   `json:"static"`
	Moving   []Shape   `json:"moving"` // with N and without Pts
}

// Shape is an idrl.Shape on the wire. Empty fields are left out.
type Shape struct {
	Kind  idrl.ShapeKind `json:"k"`
	Paint idrl.Paint     `json:"p"`
	Size  float64        `json:"s,omitempty"`
	Pts   []float64      `json:"pts,omitempty"`
	N     int            `json:"n,omitempty"` // points of a moving shape
	Text  string         `json:"t,omitempty"`
	Trail bool           `json:"trail,omitempty"`
}

// Limits of what Decode accepts.
const (
	maxBytes  = 4 << 20 // inflated
	maxFrames = 10_000
	maxPoints = 10_000 // of the moving shapes
)

// rowLen returns the numbers of a frame.
func (h *Header) rowLen() int {
	n := 2
	for _, s := range h.Moving {
		n += 2 * s.N
	}
	return n
}

// validate returns an error of kind Invalid if h is not the header of a clip.
func (h *Header) validate() error {
	positive := func(v float64) bool { return v > 0 && v <= math.MaxFloat32 }
	switch {
	case h.Version != 1:
		return idrl.Errorf(idrl.Invalid, "clip has version %d; this program reads version 1", h.Version)
	case h.Steps < 0 || h.Steps >= maxFrames || h.Frames != h.Steps+1:
		return idrl.Errorf(idrl.Invalid, "clip has %d frames for %d steps", h.Frames, h.Steps)
	case !positive(h.StepSec) || !positive(h.Playback) || !positive(h.Unit) || !positive(h.W) || !positive(h.H):
		return idrl.Errorf(idrl.Invalid, "clip has a duration, unit or camera that is not positive")
	}
	points := 0
	for _, s := range h.Moving {
		if s.N < 1 || s.N > maxPoints || len(s.Pts) != 0 {
			return idrl.Errorf(idrl.Invalid, "clip has a moving shape of %d points", s.N)
		}
		points += s.N
		if err := s.validate(s.N); err != nil {
			return err
		}
		if points > maxPoints {
			return idrl.Errorf(idrl.Invalid, "clip has more than %d moving points", maxPoints)
		}
	}
	for _, s := range h.Static {
		if len(s.Pts)%2 != 0 || s.N != 0 || s.Trail {
			return idrl.Errorf(idrl.Invalid, "clip has a static shape with half a point or with motion")
		}
		if err := s.validate(len(s.Pts) / 2); err != nil {
			return err
		}
	}
	return nil
}

// validate returns an error of kind Invalid if s, of n points, cannot be drawn.
func (s *Shape) validate(n int) error {
	least := map[idrl.ShapeKind]int{idrl.Polyline: 2, idrl.Polygon: 3, idrl.Circle: 1, idrl.Text: 1}[s.Kind]
	single := s.Kind == idrl.Circle || s.Kind == idrl.Text
	switch {
	case least == 0:
		return idrl.Errorf(idrl.Invalid, "clip has a shape of unknown kind %q", s.Kind)
	case n < least || (single && n != 1):
		return idrl.Errorf(idrl.Invalid, "clip has a %q of %d points", s.Kind, n)
	case s.Size < 0 || (s.Size == 0 && s.Kind != idrl.Polygon):
		return idrl.Errorf(idrl.Invalid, "clip has a %q without a size", s.Kind)
	case s.Paint == "":
		return idrl.Errorf(idrl.Invalid, "clip has a shape without a paint")
	}
	return nil
}
