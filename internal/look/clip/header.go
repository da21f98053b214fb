package clip

import (
	"math"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

// Header describes everything in a clip that does not move. Empty fields are left out.
type Header struct {
	Version  int       `json:"v"` // 2, or 1; 3 of a clip of pictures, 4 of a clip of video
	Env      string    `json:"env"`
	Steps    int       `json:"steps"`         // steps shown; 0 for a still
	Sub      int       `json:"sub"`           // frames of a step
	Frames   int       `json:"frames"`        // Steps·Sub + 1
	FrameSec float64   `json:"dt"`            // simulated seconds from frame to frame
	Playback float64   `json:"playback"`      // simulated seconds shown per second
	EndSec   float64   `json:"end,omitempty"` // viewer's seconds for which the last frame stays; 0: the player's default
	Phi      []float64 `json:"phi"`           // Σφ of the clip, undiscounted, length d
	Unit     float64   `json:"unit"`          // world units of a step of the numbers

	// The camera, as drawing.Camera has it. Its centre is point 0.
	W         float64 `json:"w"`
	H         float64 `json:"h"`
	Distance  float64 `json:"distance,omitempty"`
	Azimuth   float64 `json:"azimuth,omitempty"`
	Elevation float64 `json:"elevation,omitempty"`

	// Fallen is the share of the states of the clip in which the robot lies (idrl.Lying).
	Fallen float64 `json:"fallen,omitempty"`

	// Note is the text of drawing.Narrator about the clip.
	Note string `json:"note,omitempty"`

	// What drawing.Namer calls what the clip shows, and whether that is useless.
	Happens string `json:"happens,omitempty"`
	Useless bool   `json:"useless,omitempty"`

	// Marks is how many shapes of Static, the last ones, are of drawing.Marker: they show distances
	// from where the clip begins.
	Marks int `json:"marks,omitempty"`

	// Of a clip of pictures: the stored pictures, and the one that each frame shows, length Frames.
	// W and H are then pixels, Unit and Points are 1, and there are no shapes.
	Pictures []Picture     `json:"pictures,omitempty"`
	Show     []int         `json:"show,omitempty"`
	Look     []byte        `json:"look,omitempty"` // what Looks returns, deflated
	Seen     *drawing.Part `json:"seen,omitempty"` // outside of which there is nothing to see; nil: all is to be shown

	// Of a clip of video: the size of its videos in pixels, the stored videos, and the cameras in them. Pictures are then
	// some stills, of W times H pixels, and Show has the last one at or before each frame.
	Film    [2]int      `json:"film,omitzero"`
	Videos  []VideoFile `json:"videos,omitempty"`
	Cameras []Camera    `json:"cameras,omitempty"`

	Points int     `json:"points"` // whose coordinates are among the numbers
	Static []Shape `json:"static"` // with Pts
	Moving []Shape `json:"moving"` // with At
}

// Picture describes a stored picture.
type Picture struct {
	Kind  string `json:"k"` // png or jpeg
	Bytes int    `json:"n"` // length of its file
}

// Shape is a drawing.Shape on the wire. Empty fields are left out.
type Shape struct {
	Kind  drawing.ShapeKind `json:"k"`
	Paint drawing.Paint     `json:"p"`
	Size  float64           `json:"s,omitempty"`
	Pts   []float64         `json:"pts,omitempty"` // of a static shape
	At    []int             `json:"at,omitempty"`  // points of a moving shape, each less than Header.Points
	N     int               `json:"n,omitempty"`   // number of points of a moving shape; only in version 1
	Text  string            `json:"t,omitempty"`
	Trail bool              `json:"trail,omitempty"`
}

// Limits of what Decode accepts.
const (
	maxBytes  = 4 << 20 // inflated
	maxFrames = 10_000
	maxPoints = 10_000 // that move, and of the moving shapes together
	maxEndSec = 10
)

// maxFile returns the limit of the bytes of a clip of pictures or video.
func (h *Header) maxFile() int {
	if h.Version == 4 {
		return maxTape
	}
	return maxFootage
}

// camera returns the camera without its centre.
func (h *Header) camera() drawing.Camera {
	return drawing.Camera{W: h.W, H: h.H, Distance: h.Distance, Azimuth: h.Azimuth, Elevation: h.Elevation}
}

// columns returns the numbers of a frame.
func (h *Header) columns() int { return h.Points * h.camera().PointDim() }

// modernise turns a header of version 1 into an equal one of version 2.
func (h *Header) modernise() error {
	if h.Version != 1 {
		return nil
	}
	h.Version, h.Sub, h.Points = 2, 1, 1
	h.Distance, h.Azimuth, h.Elevation = 0, 0, 0
	for i := range h.Moving {
		s := &h.Moving[i]
		if s.N < 1 || s.N > maxPoints || h.Points+s.N > maxPoints+1 || len(s.At) != 0 {
			return idrl.Errorf(idrl.Invalid, "clip has a moving shape of %d points, or too many moving points", s.N)
		}
		for range s.N {
			s.At = append(s.At, h.Points)
			h.Points++
		}
		s.N = 0
	}
	return nil
}

// validate returns an error of kind Invalid if h is not the header of a clip of
// version 2, 3 or 4.
func (h *Header) validate() error {
	positive := func(v float64) bool { return v > 0 && v <= math.MaxFloat32 }
	switch {
	case h.Version < 2 || h.Version > 4:
		return idrl.Errorf(idrl.Invalid, "clip has version %d; this program reads versions 1 to 4", h.Version)
	case h.Steps < 0 || h.Steps >= maxFrames || h.Sub < 1 || h.Sub >= maxFrames ||
		h.Frames > maxFrames || h.Frames != h.Steps*h.Sub+1:
		return idrl.Errorf(idrl.Invalid, "clip has %d frames for %d steps of %d", h.Frames, h.Steps, h.Sub)
	case !positive(h.FrameSec) || !positive(h.Playback) || !positive(h.Unit) || !positive(h.W) || !positive(h.H):
		return idrl.Errorf(idrl.Invalid, "clip has a duration, unit or camera that is not positive")
	case !(h.EndSec >= 0 && h.EndSec <= maxEndSec):
		return idrl.Errorf(idrl.Invalid, "clip rests for %v s on its last frame; the limit is %d s", h.EndSec, maxEndSec)
	case !(h.Distance >= 0 && h.Distance <= math.MaxFloat32 && math.Abs(h.Elevation) < math.Pi/2):
		return idrl.Errorf(idrl.Invalid, "clip has a camera that cannot look at anything")
	case !(h.Fallen >= 0 && h.Fallen <= 1):
		return idrl.Errorf(idrl.Invalid, "clip has a share of %v fallen states", h.Fallen)
	case h.Marks < 0 || h.Marks > len(h.Static):
		return idrl.Errorf(idrl.Invalid, "clip has %d marks among %d shapes", h.Marks, len(h.Static))
	case len(h.Happens) > drawing.MaxHappening:
		return idrl.Errorf(idrl.Invalid, "clip has a name of %d bytes for what it shows; the limit is %d", len(h.Happens), drawing.MaxHappening)
	case h.Points < 1 || h.Points > maxPoints+1:
		return idrl.Errorf(idrl.Invalid, "clip has %d moving points, its camera among them; the limit is %d", h.Points, maxPoints)
	}
	if h.Version > 2 {
		return h.validateFootage()
	}
	if len(h.Pictures)+len(h.Show)+len(h.Look) != 0 {
		return idrl.Errorf(idrl.Invalid, "clip of scenes has pictures")
	}
	if err := h.validateTape(); err != nil {
		return err
	}
	if err := h.validateMoving(); err != nil {
		return err
	}
	return h.validateStatic()
}

func (h *Header) validateMoving() error {
	points := 0
	for _, s := range h.Moving {
		points += len(s.At)
		if points > maxPoints {
			return idrl.Errorf(idrl.Invalid, "clip has moving shapes of more than %d points", maxPoints)
		}
		for _, p := range s.At {
			if p < 0 || p >= h.Points {
				return idrl.Errorf(idrl.Invalid, "clip has a moving shape with point %d of %d", p, h.Points)
			}
		}
		if len(s.Pts) != 0 || s.N != 0 || s.Kind == drawing.Checker {
			return idrl.Errorf(idrl.Invalid, "clip has a moving shape that cannot move")
		}
		if err := s.validate(len(s.At), h.camera().Solid()); err != nil {
			return err
		}
	}
	return nil
}

func (h *Header) validateStatic() error {
	dim := h.camera().PointDim()
	for _, s := range h.Static {
		if len(s.Pts)%dim != 0 || len(s.At) != 0 || s.N != 0 || s.Trail {
			return idrl.Errorf(idrl.Invalid, "clip has a static shape with half a point or with motion")
		}
		if err := s.validate(len(s.Pts)/dim, h.camera().Solid()); err != nil {
			return err
		}
	}
	return nil
}

// CheckShape returns an error of kind Invalid if a camera c cannot draw s.
func CheckShape(s drawing.Shape, c drawing.Camera) error {
	dim := c.PointDim()
	if len(s.Pts)%dim != 0 {
		return idrl.Errorf(idrl.Invalid, "clip has a %q with half a point", s.Kind)
	}
	w := Shape{Kind: s.Kind, Paint: s.Paint, Size: s.Size}
	return w.validate(len(s.Pts)/dim, c.Solid())
}

// A form lists the numbers that a kind of shape needs.
type form struct {
	least, most int  // points
	sized       bool // needs a size
	solid       bool // only in solid scenes
}

// formOf returns the form of a kind; least is 0 if it is unknown.
func formOf(k drawing.ShapeKind) form {
	switch k {
	case drawing.Polyline:
		return form{least: 2, most: math.MaxInt, sized: true}
	case drawing.Polygon:
		return form{least: 3, most: math.MaxInt}
	case drawing.Circle, drawing.Text:
		return form{least: 1, most: 1, sized: true}
	case drawing.Capsule:
		return form{least: 2, most: 2, sized: true, solid: true}
	case drawing.Ball, drawing.Checker:
		return form{least: 1, most: 1, sized: true, solid: true}
	case drawing.Box:
		return form{least: 4, most: 4, solid: true}
	}
	return form{}
}

// validate returns an error of kind Invalid if s, of n points, cannot be drawn in
// a scene that is solid or flat.
func (s *Shape) validate(n int, solid bool) error {
	f := formOf(s.Kind)
	switch {
	case f.least == 0:
		return idrl.Errorf(idrl.Invalid, "clip has a shape of unknown kind %q", s.Kind)
	case f.solid && !solid:
		return idrl.Errorf(idrl.Invalid, "clip has a %q in a flat scene", s.Kind)
	case n < f.least || n > f.most:
		return idrl.Errorf(idrl.Invalid, "clip has a %q of %d points", s.Kind, n)
	case s.Size < 0 || (s.Size == 0 && f.sized):
		return idrl.Errorf(idrl.Invalid, "clip has a %q without a size", s.Kind)
	case s.Paint == "":
		return idrl.Errorf(idrl.Invalid, "clip has a shape without a paint")
	}
	return nil
}
