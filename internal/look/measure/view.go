package measure

import (
	"math"
	"slices"
	"strings"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// A View has the measurements of a clip, ready to be compared with others of the same environment.
// It is immutable.
type View struct {
	env    string
	moment bool      // one still state
	solid  bool      // else flat
	camera []float64 // centre at the first frame
	marked bool      // labels on the ground of a solid scene distinguish places
	size   float64   // world units; of pictures the share that the body has
	motion Motion
	fallen float64 // share of states
	stays  bool    // the text of the clip ends with idrl.Stays
	sec    float64 // of the viewer
	named  drawing.Happening

	centres [][2]float64 // horizontal place of the body in each frame compared
	poses   [][]float64  // x y z of each point there, from that place; z is 0 in a flat scene
	end     []float64    // of the last frame of the clip, from the place in the first

	looks [][]byte // of a clip of pictures, which has none of the three above
	spot  float64  // of pictures: the largest change of a cell
	seen  drawing.Part
}

// Motion is the mean speed of the points of the body, body sizes per second of the
// viewer.
type Motion struct {
	World    float64 // in the world
	Relative float64 // to the centre of the body
}

// Of returns the views of drawn clips. Errors are those of clip.Decode and New.
func Of(clips []idrl.Clip) ([]*View, error) {
	out := make([]*View, len(clips))
	for i, c := range clips {
		drawn, err := clip.Decode(c.Media)
		if err != nil {
			return nil, err
		}
		if out[i], err = New(drawn); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// New returns the view of a decoded clip. It returns an error of kind Invalid if the
// clip has no frames, nothing that moves, numbers that are not finite, or pictures without looks.
func New(c *clip.Clip) (*View, error) {
	h := &c.Header
	if len(h.Pictures) > 0 {
		return newPixels(c)
	}
	f := frames{clip: c, solid: h.Distance > 0, viewerSec: h.FrameSec / h.Playback}
	f.choose()
	switch {
	case len(c.Frames) == 0 || !(f.viewerSec > 0 && f.viewerSec <= math.MaxFloat64):
		return nil, idrl.Errorf(idrl.Invalid, "a clip without frames cannot be measured")
	case len(f.at) == 0:
		return nil, idrl.Errorf(idrl.Invalid, "a clip of %s has no shapes that move, so it cannot be measured", h.Env)
	}
	v := &View{
		env: h.Env, moment: len(c.Frames) == 1, solid: f.solid, camera: slices.Clone(c.Frames[0][:2]),
		marked: f.solid && slices.ContainsFunc(h.Static[:len(h.Static)-h.Marks], func(s clip.Shape) bool { return s.Kind == drawing.Text }),
		fallen: h.Fallen, stays: strings.HasSuffix(h.Note, idrl.Stays), sec: float64(len(c.Frames)-1) * f.viewerSec,
		named: named(h),
	}
	v.measure(&f)
	if !(v.size > 0) || math.IsInf(v.size, 1) || math.IsNaN(v.motion.World) || math.IsInf(v.motion.World, 1) {
		return nil, idrl.Errorf(idrl.Invalid, "a clip of %s has numbers that are not finite", h.Env)
	}
	return v, nil
}

func named(h *clip.Header) drawing.Happening {
	return drawing.Happening{Name: h.Happens, Useless: h.Useless}
}

// measure fills in the measurements of the frames.
func (v *View) measure(f *frames) {
	stride := max(1, int(math.Round(frameSec/f.viewerSec)))
	var last, now snapshot
	n := 0.0
	for i := 0; i < len(f.clip.Frames); i += stride {
		f.read(&now, i)
		v.size = max(v.size, now.size(f))
		if i > 0 {
			world, relative := now.way(&last)
			v.motion.World += world
			v.motion.Relative += relative
			n++
		}
		v.centres = append(v.centres, [2]float64(now.centre[:2]))
		v.poses = append(v.poses, now.from(now.centre))
		last, now = now, last
	}
	v.size = max(v.size, f.clip.Header.Unit) // of a single point
	if n > 0 {
		sec := n * float64(stride) * f.viewerSec
		v.motion.World /= sec * v.size
		v.motion.Relative /= sec * v.size
	}
	f.read(&now, len(f.clip.Frames)-1)
	v.end = now.from([3]float64{v.centres[0][0], v.centres[0][1]})
}

// Size returns the body size: the largest over the frames, so that a robot that folds keeps its
// size. World units; of a clip of pictures the share of the picture.
func (v *View) Size() float64 { return v.size }

// Motion returns how much the clip moves; it is 0 of a still state.
func (v *View) Motion() Motion { return v.motion }

// Seconds returns how long the clip lasts for the viewer; it is 0 of a still state.
func (v *View) Seconds() float64 { return v.sec }

// Moment reports whether the clip is one still state.
func (v *View) Moment() bool { return v.moment }

// Still reports whether nothing moves, or too little to be seen.
func (v *View) Still() bool { return !(v.motion.World >= StillBelow) && v.spot < plainSpot }

// Lively reports whether something clearly moves.
func (v *View) Lively() bool { return v.motion.World >= LivelyFrom }

// Whirling reports whether it moves too fast to follow.
func (v *View) Whirling() bool { return v.motion.World > WhirlingAbove }

// Fallen reports whether the robot is fallen for most of the clip, if the environment can tell
// (idrl.Faller).
func (v *View) Fallen() bool { return v.fallen >= FallenFrom }

// Stays reports whether the robot does not move from its place, as the text over the clip says
// (drawing.Narrator).
func (v *View) Stays() bool { return v.stays }

// Happens returns what a person would call what the clip shows (drawing.Namer).
func (v *View) Happens() drawing.Happening { return v.named }

// Seen returns the part of the pictures of the clip that is to be shown, at least; ok is false of a clip of scenes,
// which have a camera.
func (v *View) Seen() (part drawing.Part, ok bool) { return v.seen, len(v.looks) > 0 }

// Ratable reports whether a person can rate the clip by its motion: something moves, and the robot
// is not fallen for most of it. For a still it is true.
func (v *View) Ratable() bool { return v.moment || !v.Still() && !v.Fallen() }

// Frames are those of a clip, of which some points are read.
type frames struct {
	clip      *clip.Clip
	solid     bool
	viewerSec float64   // of the viewer from frame to frame
	at        []int     // points, as the header numbers them
	body      int       // number of these that are the body, the first ones
	radius    []float64 // of the shape around each point of the body
}

// choose finds the points.
func (f *frames) choose() {
	var others []int
	moving := f.clip.Header.Moving
	bodies := func(s clip.Shape) bool {
		return s.Kind == drawing.Capsule || s.Kind == drawing.Ball || s.Kind == drawing.Box
	}
	agent := func(s clip.Shape) bool {
		return s.Kind != drawing.Text && (s.Paint == drawing.Agent || s.Paint == drawing.AgentFg)
	}
	drawn := func(s clip.Shape) bool { return s.Kind != drawing.Text && s.Paint != drawing.Focus } // no marks
	body := drawn
	switch {
	case f.solid && slices.ContainsFunc(moving, bodies):
		body = bodies
	case !f.solid && slices.ContainsFunc(moving, agent):
		body = agent
	}
	for _, s := range moving {
		at := s.At
		if s.Kind == drawing.Box {
			at = at[:1]
		}
		switch {
		case body(s):
			f.at = append(f.at, at...)
			f.radius = append(f.radius, slices.Repeat([]float64{radius(s)}, len(at))...)
		case !f.solid && drawn(s):
			others = append(others, at...)
		}
	}
	f.body = len(f.at)
	f.at = append(f.at, others...)
}

// radius is that of round shapes; the width of a line is no size.
func radius(s clip.Shape) float64 {
	if s.Kind == drawing.Circle || s.Kind == drawing.Ball || s.Kind == drawing.Capsule {
		return s.Size
	}
	return 0
}

// A snapshot holds the points of one frame.
type snapshot struct {
	pts    []float64  // x y z of every point
	body   int        // numbers of pts that are the body's
	centre [3]float64 // mean of the body's points
}

// read stores frame i in s.
func (f *frames) read(s *snapshot, i int) {
	row, dim := f.clip.Frames[i], 2
	if f.solid {
		dim = 3
	}
	s.pts, s.body = s.pts[:0], 3*f.body
	for _, p := range f.at {
		z := 0.0
		if f.solid {
			z = row[p*dim+2]
		}
		s.pts = append(s.pts, row[p*dim], row[p*dim+1], z)
	}
	s.centre = [3]float64{}
	for k, v := range s.pts[:s.body] {
		s.centre[k%3] += v / float64(f.body)
	}
}

// size is twice the root mean square distance of the body's outline to its centre.
func (s *snapshot) size(f *frames) float64 {
	sum := 0.0
	for k, v := range s.pts[:s.body] {
		sum += (v - s.centre[k%3]) * (v - s.centre[k%3])
	}
	for _, r := range f.radius {
		sum += r * r
	}
	return 2 * math.Sqrt(sum/float64(f.body))
}

// way returns how far the points of the body moved from o to s, on average: in the world, and
// relative to the centre.
func (s *snapshot) way(o *snapshot) (world, relative float64) {
	shift := [3]float64{s.centre[0] - o.centre[0], s.centre[1] - o.centre[1], s.centre[2] - o.centre[2]}
	for i := 0; i < s.body; i += 3 {
		x, y, z := s.pts[i]-o.pts[i], s.pts[i+1]-o.pts[i+1], s.pts[i+2]-o.pts[i+2]
		world += math.Sqrt(x*x + y*y + z*z)
		x, y, z = x-shift[0], y-shift[1], z-shift[2]
		relative += math.Sqrt(x*x + y*y + z*z)
	}
	n := float64(s.body / 3)
	return world / n, relative / n
}

// from returns the points with the horizontal place of origin taken off.
func (s *snapshot) from(origin [3]float64) []float64 {
	out := slices.Clone(s.pts)
	for i := 0; i < len(out); i += 3 {
		out[i] -= origin[0]
		out[i+1] -= origin[1]
	}
	return out
}
