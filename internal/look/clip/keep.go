package clip

import (
	"math"
	"slices"

	"tiebreak/internal/base/drawing"
)

// Margins between a body that a camera keeps in the picture (drawing.Camera.Keeps) and its edges, as
// shares of the width or height. At the top there may be a line of text.
const (
	sideMargin   = 0.03
	topMargin    = 0.08
	bottomMargin = 0.03
)

// keepSec is half of the longest time, viewer's seconds, by which the camera begins to move before a body
// would leave the picture, and ends after that.
const keepSec = 0.6

// A sphere is a part of a body: a point with all that is nearer to it than r, world units.
type sphere struct{ x, y, z, r float64 }

// keep moves the camera up, down and to its sides so that all bodies that move are in the picture
// in every frame. The scale stays. viewerSec is the viewer's time between two frames.
func (f *film) keep(viewerSec float64) {
	if f.err != nil || !f.first.Camera.Keeps || !f.first.Camera.Solid() {
		return
	}
	e := newEdges(f.first.Camera)
	most := min(int(keepSec/viewerSec), f.frames)
	spheres := make([][]sphere, f.frames)
	for i := range spheres {
		spheres[i] = f.spheres(i)
	}
	centre := f.tracks[0]
	least, greatest := make([]float64, f.frames), make([]float64, f.frames)
	move := func(bounds func(at, s sphere) (least, greatest float64), x, y, z float64) {
		for i, list := range spheres {
			at := sphere{x: centre[0][i], y: centre[1][i], z: centre[2][i]}
			least[i], greatest[i] = math.Inf(-1), math.Inf(1)
			for _, s := range list {
				a, b := bounds(at, s)
				least[i], greatest[i] = max(least[i], a), min(greatest[i], b)
			}
		}
		for i, by := range within(least, greatest, most) {
			centre[0][i] += by * x
			centre[1][i] += by * y
			centre[2][i] += by * z
		}
	}
	move(e.upright, 0, 0, 1)
	move(e.level, e.right[0], e.right[1], 0)
}

// spheres returns the bodies in a frame.
func (f *film) spheres(frame int) (out []sphere) {
	point := 1
	for i, s := range f.first.Moving {
		tracks := f.tracks[point : point+f.counts[i]]
		point += f.counts[i]
		at := func(k int) sphere {
			return sphere{tracks[k][0][frame], tracks[k][1][frame], tracks[k][2][frame], s.Size}
		}
		if s.Kind == drawing.Capsule || s.Kind == drawing.Ball {
			for k := range tracks {
				out = append(out, at(k))
			}
		}
		if s.Kind == drawing.Box {
			out = append(out, corners(at(0), [3]sphere{at(1), at(2), at(3)})...)
		}
	}
	return out
}

// corners returns those of a box with a centre and the middles of three faces that meet.
func corners(centre sphere, faces [3]sphere) (out []sphere) {
	for k := range 8 {
		corner := sphere{x: centre.x, y: centre.y, z: centre.z}
		for j, face := range faces {
			sign := float64(1 - 2*(k>>j&1))
			corner.x += sign * (face.x - centre.x)
			corner.y += sign * (face.y - centre.y)
			corner.z += sign * (face.z - centre.z)
		}
		out = append(out, corner)
	}
	return out
}

// edges are those of the picture that a camera takes, less the margins. A place in the picture is
// focal times its distance to the right, or up, divided by its depth: the picture is 1 wide.
type edges struct {
	distance           float64
	forward, right, up [3]float64
	focal              float64
	side, top, bottom  float64
}

func newEdges(c drawing.Camera) edges {
	sa, ca := math.Sincos(c.Azimuth)
	se, ce := math.Sincos(c.Elevation)
	return edges{
		distance: c.Distance, forward: [3]float64{ce * ca, ce * sa, -se}, right: [3]float64{sa, -ca, 0}, up: [3]float64{se * ca, se * sa, ce},
		focal: c.Distance / c.W, side: 0.5 - sideMargin, top: (0.5 - topMargin) * c.H / c.W, bottom: (0.5 - bottomMargin) * c.H / c.W,
	}
}

// seen returns where s is for a camera with a centre: to the right, up, and its depth.
func (e *edges) seen(centre, s sphere) (right, up, depth float64) {
	d := [3]float64{s.x - centre.x, s.y - centre.y, s.z - centre.z}
	dot := func(a [3]float64) float64 { return a[0]*d[0] + a[1]*d[1] + a[2]*d[2] }
	return dot(e.right), dot(e.up), dot(e.forward) + e.distance
}

// upright returns how far the centre must go up at least, and may at most, so that s is between
// bottom and top: the planes through the eye and these edges are farther than s.r from it. With the
// centre v higher, s is v·up[2] lower and v·forward[2] nearer.
func (e *edges) upright(centre, s sphere) (least, greatest float64) {
	_, up, depth := e.seen(centre, s)
	least = (e.focal*up - e.top*depth + s.r*math.Hypot(e.focal, e.top)) / (e.focal*e.up[2] - e.top*e.forward[2])
	if fall := e.focal*e.up[2] + e.bottom*e.forward[2]; fall > 0 {
		return least, (e.focal*up + e.bottom*depth - s.r*math.Hypot(e.focal, e.bottom)) / fall
	}
	return least, math.Inf(1) // it looks down so steeply that nothing falls out of the picture
}

// level is upright for the sides, and ways to the right.
func (e *edges) level(centre, s sphere) (least, greatest float64) {
	right, _, depth := e.seen(centre, s)
	room := (e.side*depth - s.r*math.Hypot(e.focal, e.side)) / e.focal
	return right - room, right + room
}

// within returns a smooth sequence between the bounds that is 0 where they allow it for long enough.
// It begins to move up to twice most steps early; where the bounds leave no room for that, later. Where they cross
// it is between them.
func within(least, greatest []float64, most int) []float64 {
	up, down := make([]float64, len(least)), make([]float64, len(least))
	exact := make([]float64, len(least))
	for i := range least {
		if least[i] > greatest[i] {
			middle := (least[i] + greatest[i]) / 2
			least[i], greatest[i] = middle, middle
		}
		up[i], down[i] = max(0, least[i]), max(0, -greatest[i])
		exact[i] = up[i] - down[i]
	}
	if !slices.ContainsFunc(exact, func(v float64) bool { return v != 0 }) {
		return exact
	}
	for steps := most; steps > 0; steps /= 2 {
		out := smoothAbove(up, steps)
		for i, v := range smoothAbove(down, steps) {
			out[i] -= v
		}
		fits := true
		for i, v := range out {
			fits = fits && v >= least[i]-1e-9 && v <= greatest[i]+1e-9
		}
		if fits {
			return out
		}
	}
	return exact
}

// smoothAbove returns a smooth sequence that is at least x: the mean, taken twice over half of the
// steps to either side, of the largest of x over all these steps.
func smoothAbove(x []float64, steps int) []float64 {
	at := func(list []float64, i int) float64 { return list[min(max(i, 0), len(list)-1)] }
	most := make([]float64, len(x))
	for i := range x {
		for k := -steps; k <= steps; k++ {
			most[i] = max(most[i], at(x, i+k))
		}
	}
	for _, half := range [2]int{steps / 2, steps - steps/2} {
		mean := make([]float64, len(x))
		for i := range x {
			for k := -half; k <= half; k++ {
				mean[i] += at(most, i+k) / float64(2*half+1)
			}
		}
		most = mean
	}
	return most
}
